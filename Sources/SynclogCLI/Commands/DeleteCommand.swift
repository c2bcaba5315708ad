import SynclogRecords

extension Command {
    /// The command `synclog delete`.
    static let delete = Command(
        name: "delete",
        operands: "ZONE NAME",
        summary: "delete a record",
        details: [
            "With --if-tag only if the record still has that change tag; otherwise the status is 1, and one JSON "
                + "object on standard output holds the version that is there as 'server'."
        ],
        options: [Option("if-tag", nil, .required("TAG"), help: "only if the record has this tag")],
        examples: ["synclog -D notes delete shopping milk"],
        run: runDelete)

    private static func runDelete(_ invocation: Invocation) async throws(CommandFailure) {
        let words = try invocation.operands(2...2)
        let id = Record.ID(recordName: words[1], zoneID: RecordZone.ID(zoneName: words[0]))
        let condition = try tagCondition(invocation)
        if condition == .missing {
            throw .usage("delete: --if-tag none deletes nothing", next: invocation.usageStep)
        }
        var deletion = RecordDeletion(recordID: id)
        if case .tag(let tag) = condition { deletion.changeTag = tag }
        try await OpenedDatabase.use(invocation, writing: true) { [deletion] opened throws(CommandFailure) in
            // The authority takes the deletion of nothing for done; a person mistyped.
            if deletion.changeTag == nil, try await opened.record(id) == nil {
                throw CommandFailure(
                    .notSo, "record '\(shown(words[1]))' in zone '\(shown(words[0]))' is not there",
                    next: "see 'synclog list'")
            }
            let results = try await database { () throws(SyncError) in
                try await opened.database.modifyRecords(
                    saving: [], deleting: [deletion], context: opened.writeContext())
            }
            guard case .failure(let error)? = results.deleteResults[id] else { return }
            guard error.code == .serverRecordChanged else { throw CommandFailure(error) }
            throw try TagConflict(id: id, client: nil, server: error.serverRecord, condition: condition)
                .report(invocation.console)
        }
    }
}
