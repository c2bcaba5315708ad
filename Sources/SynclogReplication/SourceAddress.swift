/// Where another journal is: a directory, a command that speaks the protocol, or a host reached by ssh.
public enum SourceAddress: Hashable, Sendable, CustomStringConvertible {
    /// A directory of this machine.
    case directory(String)
    /// A command for `/bin/sh -c` that speaks the protocol on its standard streams.
    case command(String)
    /// A directory of another machine, where `synclog` is installed.
    case ssh(SSHAddress)

    /// Understands `DIR`, `exec:COMMAND` and `ssh://[user@]host[:port]/path`.
    public init(_ text: String) throws(ReplicationError) {
        guard !text.utf8.contains(0) else { throw .badSource(text: "…", reason: "it contains a zero byte") }
        guard !text.isEmpty else { throw .badSource(text: text, reason: "it is empty") }
        if let command = text.dropping(prefix: "exec:") {
            guard command.utf8.contains(where: { $0 != 0x20 && $0 != 0x09 }) else {
                throw .badSource(text: text, reason: "the command is missing")
            }
            self = .command(command)
        } else if text.dropping(prefix: "ssh:") != nil {
            self = .ssh(try SSHAddress(text))
        } else {
            self = .directory(try Self.directory(text))
        }
    }

    /// What looks like an address of another kind is not taken for a file name.
    private static func directory(_ text: String) throws(ReplicationError) -> String {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: 0x3A) else { return text }
        let head = bytes[..<colon]
        if bytes[(colon + 1)...].starts(with: "//".utf8), !head.contains(0x2F) {
            throw .badSource(
                text: text, reason: "the scheme '\(String(decoding: head, as: UTF8.self))' is not known")
        }
        if !head.contains(0x2F), !head.isEmpty {
            throw .badSource(text: text, reason: "it could be a host; for a directory write ./ before it")
        }
        return text
    }

    /// The text the address was made of, as far as it may be shown: commands may hold secrets.
    public var description: String {
        switch self {
        case .directory(let path): path
        case .command: "exec:…"
        case .ssh(let address): address.description
        }
    }

    /// Whether the path of a directory is meant.
    public var isDirectory: Bool {
        if case .directory = self { true } else { false }
    }
}

/// The parts of `ssh://[user@]host[:port]/path`.
public struct SSHAddress: Hashable, Sendable, CustomStringConvertible {
    /// The user on the other machine, or nil for ssh's own choice.
    public var user: String?
    /// The host's name, an alias of ssh's configuration, or an address.
    public var host: String
    /// The port, or nil for ssh's own choice.
    public var port: UInt16?
    /// The directory on the host; `~/` at its start means the user's home.
    public var path: String

    /// Understands `ssh://[user@]host[:port]/path`; `%XX` stands for a byte.
    public init(_ text: String) throws(ReplicationError) {
        func bad(_ reason: String) -> ReplicationError { .badSource(text: text, reason: reason) }
        guard let rest = text.dropping(prefix: "ssh://") else { throw bad("two slashes must follow ssh:") }
        guard let slash = rest.firstIndex(of: "/") else { throw bad("the path is missing") }
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: "@") {
            let user = authority[..<at]
            authority = authority[authority.index(after: at)...]
            guard !user.isEmpty else { throw bad("the user before @ is missing") }
            guard !user.contains(":") else {
                throw .badSource(text: "ssh://…", reason: "a password cannot be given here; use a key")
            }
            guard user.first != "-" else { throw bad("the user begins with -") }
            self.user = String(user)
        }
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { throw bad("the ] of the host is missing") }
            host = String(authority[authority.index(after: authority.startIndex)..<end])
            authority = authority[authority.index(after: end)...]
        } else {
            let end = authority.firstIndex(of: ":") ?? authority.endIndex
            host = String(authority[..<end])
            authority = authority[end...]
        }
        guard !host.isEmpty else { throw bad("the host is missing") }
        // What begins with a dash would be an option for ssh.
        guard host.first != "-" else { throw bad("the host begins with -") }
        if authority.first == ":" {
            guard let port = UInt16(authority.dropFirst()), port > 0 else {
                throw bad("the port is not a number")
            }
            self.port = port
        } else if !authority.isEmpty {
            throw bad("something stands between host and path")
        }
        guard let path = Self.percentDecoded(rest[slash...]) else { throw bad("a % needs two hex digits") }
        self.path = path.dropping(prefix: "/~/").map { "~/" + $0 } ?? path
        guard self.path != "/", self.path != "~/" else { throw bad("the path is missing") }
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.first != 0x2B,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), value > 0
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The address as it can be given again, without percent signs.
    public var description: String {
        let user = user.map { $0 + "@" } ?? ""
        let host = host.contains(":") ? "[\(host)]" : host
        let port = port.map { ":\($0)" } ?? ""
        return "ssh://\(user)\(host)\(port)\(path.first == "/" ? path : "/" + path)"
    }

    /// The ssh call that serves the directory; a lost host is noticed after a minute and a half.
    func command(program: String) -> CommandLine {
        var arguments = ["-T", "-o", "ServerAliveInterval=30", "-o", "ServerAliveCountMax=3"]
        if let port { arguments += ["-p", String(port)] }
        arguments += ["--", user.map { $0 + "@" + host } ?? host]
        let directory = path.dropping(prefix: "~/").map { "\"$HOME\"/" + quoted($0) } ?? quoted(path)
        arguments.append("exec synclog -D \(directory) serve --stdio")
        return CommandLine(program: program, arguments: arguments)
    }

    /// One word for the shell of the other machine, whatever is in it.
    private func quoted(_ text: String) -> String {
        var word = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
        }
        return word + "'"
    }
}

extension String {
    /// The rest after a prefix, compared as bytes.
    func dropping(prefix: String) -> String? {
        utf8.starts(with: prefix.utf8) ? String(self.utf8.dropFirst(prefix.utf8.count)) : nil
    }
}
