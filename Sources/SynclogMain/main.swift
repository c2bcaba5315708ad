import SynclogCLI

await SynclogCommand.main()
