import SynclogJournal
import SynclogRecords

extension Command {
    /// The command `synclog init`.
    static let initialize = Command(
        name: "init",
        summary: "make a directory with an empty database in it",
        details: [
            "The directory must not be there, or be empty. The database gets its default zone, and an owner "
                + "id of 32 random hex digits unless --owner names one."
        ],
        options: [
            Option("container", nil, .required("ID"), help: "the container's name (local)"),
            Option("owner", nil, .required("ID"), help: "the owner's id (random)"),
        ],
        examples: ["synclog -D notes init --owner alice"],
        run: runInit)

    private static func runInit(_ invocation: Invocation) async throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        let directory = try invocation.directory()
        var options = JournalOptions()
        try invocation.set(&options)
        let made = try await database { () throws(SyncError) in
            try JournalDatabase.create(
                at: directory, container: invocation.arguments.value("container") ?? "local",
                owner: invocation.arguments.value("owner"), options: options)
        }
        made.close()
        invocation.console.notice(
            "made database \(made.id) of owner '\(shown(made.owner))' in '\(shown(directory))'")
    }
}
