import SynclogJournal
import SynclogRecords
import SynclogReplication

extension Command {
    /// The command `synclog serve`.
    static let serve = Command(
        name: "serve",
        operands: "",
        summary: "serve the journal over the standard streams, until the other side ends them",
        details: [
            "This is what ssh:// and exec: sources run on the other side: 'synclog replicate' copies through it, "
                + "and -D with such a source reads and writes records through it."
        ],
        options: [Option("stdio", help: "speak on standard input and output; nothing else is built yet")],
        examples: ["synclog -D notes serve --stdio"],
        run: runServe)

    private static func runServe(_ invocation: Invocation) async throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        let directory = try invocation.directory()
        guard invocation.arguments.has("stdio") else {
            throw .usage("serve: say how", next: "give --stdio")
        }
        var options = JournalOptions()
        try invocation.set(&options)
        let local = try open(directory, options)
        defer { local.close() }
        let server = try journal { () throws(JournalError) in
            try JournalServer(database: local, options: options, leaseRefused: noticeNoLease)
        }
        do throws(ReplicationError) {
            try await server.serve(input: 0, output: 1)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// A journal that cannot be written, or that another process holds, can still be read and followed.
    private static func open(
        _ directory: String, _ options: JournalOptions
    ) throws(CommandFailure) -> JournalDatabase {
        do throws(SyncError) {
            do throws(SyncError) {
                return try JournalDatabase.open(at: directory, mode: .shared, options: options)
            } catch {
                switch error.underlying {
                case .readOnly?, .busy?:
                    return try JournalDatabase.open(at: directory, mode: .readOnly, options: options)
                default: throw error
                }
            }
        } catch {
            throw CommandFailure(error)
        }
    }
}
