/// The tool `synclog`; its executable does nothing but call ``main()``, so that tests and fuzzers can link everything else.
public enum SynclogCommand {
    /// Every command, in the order of the help.
    static let commands: [Command] = [
        .demo, .initialize, .zones, .zone, .put, .get, .delete, .list, .import, .export, .dump, .replicate,
        .serve,
        .verify, .compact, .snapshot, .promote, .stats, .crashtest,
    ]

    /// Runs the command that the process was called with, and ends the process.
    public static func main() async {
        let console = Console()
        let code = await CommandRunner(commands: commands, console: console).run()
        leave(code)
    }
}
