@main
struct SynclogCommand {
    static func main() async {}
}
