/// The executable `synclog`.
@main
struct SynclogCommand {
    /// Every command, in the order of the help.
    static let commands: [Command] = [
        .demo, .initialize, .zones, .zone, .put, .get, .delete, .list, .import, .export, .dump, .replicate,
        .serve,
        .verify, .compact, .snapshot, .promote, .stats, .crashtest,
    ]

    static func main() async {
        let console = Console()
        let code = await CommandRunner(commands: commands, console: console).run()
        leave(code)
    }
}
