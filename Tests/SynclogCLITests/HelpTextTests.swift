import Glibc
import Testing

@testable import SynclogCLI

@Suite struct HelpTextTests {
    /// The expected texts; run the tests with SYNCLOG_RECORD_GOLDEN=1 to write them anew, then read the difference.
    private static let folder = repositoryRoot + "/Fixtures/cli"

    private static var texts: [(name: String, text: String)] {
        [("help", HelpText.tool(SynclogCommand.commands))]
            + SynclogCommand.commands.map { ("help-\($0.name)", HelpText.command($0)) }
    }

    @Test(arguments: texts.map(\.name))
    func `help is what the file in Fixtures says`(_ name: String) throws {
        let text = try #require(Self.texts.first { $0.name == name }).text
        let path = "\(Self.folder)/\(name).txt"
        if getenv("SYNCLOG_RECORD_GOLDEN") != nil { writeFile(path, Array(text.utf8)) }
        #expect(String(decoding: try readFile(path), as: UTF8.self) == text)
    }

    @Test func `no line is wider than 80 columns and none ends in a space`() {
        for (name, text) in Self.texts {
            for line in text.split(separator: "\n") {
                #expect(line.count <= 80, "\(name): \(line)")
                #expect(line.last != " ", "\(name): \(line)")
            }
        }
    }

    @Test func `every command has an example that its own table parses`() throws {
        for command in SynclogCommand.commands {
            #expect(!command.examples.isEmpty, "\(command.name)")
            for example in command.examples where !example.contains(where: { "|\\'".contains($0) }) {
                guard let start = example.range(of: "synclog ")?.upperBound else { continue }
                let words = example[start...].split(separator: ">")[0].split(separator: " ").map(String.init)
                let (_, next) = try OptionParser(options: Command.globalOptions, stopsAtOperand: true).parse(
                    words)
                guard next < words.count, words[next] == command.name else { continue }
                _ = try OptionParser(options: command.allOptions).parse(words, from: next + 1)
            }
        }
    }

    @Test func `no option has two meanings in one command`() {
        for command in SynclogCommand.commands {
            let names = command.allOptions.map(\.name)
            let letters = command.allOptions.compactMap(\.letter)
            #expect(Set(names).count == names.count, "\(command.name)")
            #expect(Set(letters).count == letters.count, "\(command.name)")
        }
    }
}

extension String {
    /// Where a text stands first.
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
