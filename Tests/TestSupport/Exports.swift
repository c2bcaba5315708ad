@_exported import SynclogTestKit
