import Glibc
import SynclogJournal
import TestSupport
import Testing

@testable import SynclogReplication

@Suite struct SourceAddressTests {
    @Test(
        arguments: [
            ("data", .directory("data")),
            ("/a/b:c", .directory("/a/b:c")),
            ("./host:path", .directory("./host:path")),
            ("../x", .directory("../x")),
            ("exec:synclog -D x serve --stdio", .command("synclog -D x serve --stdio")),
            ("exec: ssh://x", .command(" ssh://x")),
        ] as [(String, SourceAddress)])
    func `an address is understood`(text: String, expected: SourceAddress) throws {
        #expect(try SourceAddress(text) == expected)
    }

    @Test(
        arguments: [
            ("ssh://host/a/b", nil, "host", nil, "/a/b", "'/a/b'"),
            ("ssh://me@host/a", "me", "host", nil, "/a", "'/a'"),
            ("ssh://me@host:2222/a%20b", "me", "host", 2222, "/a b", "'/a b'"),
            ("ssh://[::1]:22/x", nil, "::1", 22, "/x", "'/x'"),
            ("ssh://host/~/x", nil, "host", nil, "~/x", "\"$HOME\"/'x'"),
            ("ssh://host/it's", nil, "host", nil, "/it's", "'/it'\\''s'"),
            ("ssh://host/$(reboot)", nil, "host", nil, "/$(reboot)", "'/$(reboot)'"),
        ] as [(String, String?, String, UInt16?, String, String)])
    func `an ssh address is understood and its path is one word for the shell`(
        text: String, user: String?, host: String, port: UInt16?, path: String, word: String
    ) throws {
        guard case .ssh(let address) = try SourceAddress(text) else {
            Issue.record("not ssh")
            return
        }
        #expect(address.user == user && address.host == host && address.port == port && address.path == path)
        let command = address.command(program: "ssh")
        #expect(command.arguments.last == "exec synclog -D \(word) serve --stdio")
        #expect(command.arguments.contains(user.map { "\($0)@\(host)" } ?? host))
    }

    @Test(arguments: [
        "", "exec:", "exec:  ", "ssh:", "ssh:/host/x", "ssh://", "ssh://host", "ssh://host/", "ssh:///x",
        "ssh://host:/x", "ssh://host:0/x", "ssh://host:70000/x", "ssh://@host/x", "ssh://me:secret@host/x",
        "ssh://-oProxyCommand=reboot/x", "ssh://-l@host/x", "ssh://host/%zz", "ssh://host/%+1",
        "ssh://[::1/x",
        "http://host/x", "nfs://x", "host:path", "C:x", "a\0b",
    ])
    func `what is no address is refused with the forms there are`(text: String) throws {
        let error = #expect(throws: ReplicationError.self) { try SourceAddress(text) }
        let description = try #require(error).description
        #expect(description.contains("ssh://[user@]host/path") && !description.contains("secret"))
    }

    @Test(arguments: ["/a b", "/it's", "/$(exit 9)`exit 9`\"\\", "/é;#&|<>*?", "/-x"])
    func `ssh runs synclog with the path as it was given`(path: String) throws {
        let directory = TemporaryDirectory()
        let files = PosixFileSystem()
        // Like ssh, it hands the last argument to the login shell; there synclog prints its own arguments.
        try files.setText(directory("synclog"), "#!/bin/sh\nprintf '%s|' \"$@\"\n")
        try files.setText(
            directory("ssh"),
            "#!/bin/sh\nfor last; do :; done\nPATH=\(directory.path):$PATH exec /bin/sh -c \"$last\"\n")
        for name in ["synclog", "ssh"] { chmod(directory(name), 0o755) }
        var address = try SSHAddress("ssh://host/x")
        address.path = path
        let stream = try SourceAddress.ssh(address).stream(sshProgram: directory("ssh"))
        defer { stream.close() }
        var text = ""
        while !text.hasSuffix("--stdio|") {
            let bytes = try stream.read(max: 1000, timeout: .seconds(60))
            try #require(!bytes.isEmpty)
            text += String(decoding: bytes, as: UTF8.self)
        }
        #expect(text == "-D|\(path)|serve|--stdio|")
    }

    @Test func `a command is not shown in messages`() throws {
        #expect(!(try SourceAddress("exec:tool --token secret").description.contains("secret")))
    }
}

@Suite struct SyncFolderTests {
    @Test(arguments: [
        (".stfolder", true, "Syncthing"), (".dropbox", false, "Dropbox"), (".dropbox.cache", true, "Dropbox"),
        (".nextcloudsync.log", false, "Nextcloud"),
    ])
    func `a journal inside a synchronised folder is refused with ssh as the next step`(
        marker: String, isDirectory: Bool, tool: String
    ) throws {
        let directory = TemporaryDirectory()
        let files = PosixFileSystem()
        try files.makeDirectory(directory("in"))
        try files.makeDirectory(directory("in/journal"))
        _ = try DirectorySource(path: directory("in/journal"))
        if isDirectory {
            try files.makeDirectory(directory(marker))
        } else {
            _ = try files.open(directory(marker), .createNew)
        }
        let error = #expect(throws: ReplicationError.self) {
            try DirectorySource(path: directory("in/journal"))
        }
        #expect(error == .syncFolder(path: directory("in/journal"), tool: tool))
        #expect(try #require(error).description.contains("ssh://"))
    }

    @Test func `Dropbox's own directory in a home is no mark`() throws {
        let directory = TemporaryDirectory()
        try PosixFileSystem().makeDirectory(directory(".dropbox"))
        _ = try DirectorySource(path: directory.path)
    }
}

extension PosixFileSystem {
    /// Makes a file with a text.
    fileprivate func setText(_ path: String, _ text: String) throws {
        let file = try open(path, .createNew)
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: 0) }
    }
}
