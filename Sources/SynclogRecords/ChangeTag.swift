internal import SynclogJournal

/// The version of a record; equal tags mean equal content, and equality is its only operation.
///
/// It is derived from where the version stands and what it holds, so compaction keeps it and a restored copy cannot
/// give the same tag to other content.
public struct ChangeTag: Hashable, Sendable, CustomStringConvertible {
    package let commit: UInt64
    package let index: UInt32
    package let checksum: UInt32

    package init(commit: UInt64, index: UInt32, checksum: UInt32) {
        self.commit = commit
        self.index = index
        self.checksum = checksum
    }

    /// Reads a tag back from its text, exactly as ``text`` wrote it.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, let commit = UInt64(Substring(parts[0]), radix: 16),
            let index = UInt32(Substring(parts[1]), radix: 16),
            let checksum = UInt32(Substring(parts[2]), radix: 16)
        else { return nil }
        self.init(commit: commit, index: index, checksum: checksum)
        guard self.text.hasSameBytes(as: text) else { return nil }
    }

    /// Letters, digits and hyphens.
    public var text: String {
        "\(String(commit, radix: 16))-\(String(index, radix: 16))-\(hexadecimal(UInt64(checksum), digits: 8))"
    }

    /// The same as ``text``.
    public var description: String { text }
}
