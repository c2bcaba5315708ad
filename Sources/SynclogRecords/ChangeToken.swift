package import SynclogJournal

/// A place in a change feed: "I have everything up to here".
///
/// Opaque; may be kept, must not be compared or ordered.
///
/// It belongs to one database and one scope, the database or one incarnation of a zone.
public struct ChangeToken: Hashable, Sendable, CustomStringConvertible {
    package let cursor: Cursor

    package init(_ cursor: Cursor) { self.cursor = cursor }

    /// Reads a token back from its text.
    public init(_ text: String) throws(SyncError) {
        cursor = try mapped { () throws(JournalError) in try Cursor(text: text) }
    }

    /// 80 characters of base64url.
    public var text: String { cursor.text }

    /// Does not show the token, so that it cannot slip into a log.
    public var description: String { "ChangeToken(…)" }
}
