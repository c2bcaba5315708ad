internal import Glibc
internal import SynclogJournal

/// Tells folders that a file-sync tool copies: such a tool would tear a journal.
enum SyncFolder {
    /// A name at the root of a synchronised folder, and the tool it belongs to.
    private struct Marker {
        var name: String
        var tool: String
        /// What must be there; some names mean something else when a directory, in particular in a home.
        var isDirectory: Bool?
    }

    private static let markers: [Marker] = [
        Marker(name: ".stfolder", tool: "Syncthing", isDirectory: nil),
        Marker(name: ".dropbox", tool: "Dropbox", isDirectory: false),
        Marker(name: ".dropbox.cache", tool: "Dropbox", isDirectory: true),
        Marker(name: ".sync/ID", tool: "Resilio Sync", isDirectory: false),
        Marker(name: ".SynologyWorkingDirectory", tool: "Synology Drive", isDirectory: true),
        Marker(name: ".tmp.drivedownload", tool: "Google Drive", isDirectory: true),
        Marker(name: ".owncloudsync.log", tool: "ownCloud", isDirectory: false),
        Marker(name: ".nextcloudsync.log", tool: "Nextcloud", isDirectory: false),
        Marker(name: ".unison", tool: "Unison", isDirectory: false),
    ]

    /// The tool that copies the directory, found by its mark there or in a directory above.
    static func tool(for path: String, fileSystem: any FileSystem) throws(ReplicationError) -> String? {
        for directory in directories(from: absolute(path)) {
            for marker in markers {
                let place = directory.hasSuffix("/") ? directory + marker.name : directory + "/" + marker.name
                let found: FileStatus?
                do throws(FileError) {
                    found = try fileSystem.status(place)
                } catch {
                    // What cannot be looked at tells nothing.
                    continue
                }
                if let found, marker.isDirectory == nil || marker.isDirectory == found.isDirectory {
                    return marker.tool
                }
            }
        }
        return nil
    }

    /// The path without links and dots, as far as there is something.
    private static func absolute(_ path: String) -> String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The directory and those above it, nearest first.
    static func directories(from path: String) -> [String] {
        var parts = path.utf8.split(separator: 0x2F).map { String(decoding: $0, as: UTF8.self) }
        var result = [path]
        let root = path.utf8.first == 0x2F ? "/" : ""
        while !parts.isEmpty {
            parts.removeLast()
            let rest = root + parts.joined(separator: "/")
            result.append(rest.isEmpty ? "." : rest)
        }
        return result
    }
}
