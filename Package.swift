// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "synclog",
    products: [
        .executable(name: "synclog", targets: ["SynclogMain"]),
        .executable(name: "synclog-bench", targets: ["SynclogBenchmarks"]),
        .library(name: "SynclogJournal", targets: ["SynclogJournal"]),
        .library(name: "SynclogRecords", targets: ["SynclogRecords"]),
        .library(name: "SynclogReplication", targets: ["SynclogReplication"]),
        .library(name: "SynclogTestKit", targets: ["SynclogTestKit"]),
    ],
    traits: [
        .trait(
            name: "PeerBenchmarks",
            description: "Measure SQLite, RocksDB and LMDB beside the journal in synclog-bench."),
        .default(enabledTraits: []),
    ],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "SynclogJournal", dependencies: ["CLZ4"]),
        .target(name: "SynclogRecords", dependencies: ["SynclogJournal"]),
        .target(name: "SynclogReplication", dependencies: ["CLZ4", "SynclogJournal", "SynclogRecords"]),
        .target(
            name: "SynclogTestKit", dependencies: ["SynclogJournal", "SynclogRecords", "SynclogReplication"]),
        .target(
            name: "SynclogCLI",
            dependencies: ["SynclogJournal", "SynclogRecords", "SynclogReplication", "SynclogTestKit"]),
        .executableTarget(name: "SynclogMain", dependencies: ["SynclogCLI"]),
        .executableTarget(
            name: "SynclogFuzz",
            dependencies: [
                "SynclogCLI", "SynclogJournal", "SynclogRecords", "SynclogReplication", "SynclogTestKit",
                "TestSupport",
            ],
            path: "Tests/Fuzzing", exclude: ["run"]),
        .systemLibrary(
            name: "CPeers", path: "Tests/Benchmarks/CPeers",
            providers: [.apt(["libsqlite3-dev", "librocksdb-dev", "liblmdb-dev"])]),
        .target(name: "CAllocations", path: "Tests/Benchmarks/CAllocations"),
        .executableTarget(
            name: "SynclogBenchmarks",
            dependencies: [
                "CAllocations", "CLZ4", "SynclogJournal", "SynclogRecords", "SynclogReplication",
                "TestSupport",
                .target(name: "CPeers", condition: .when(traits: ["PeerBenchmarks"])),
            ],
            path: "Tests/Benchmarks", exclude: ["CAllocations", "CPeers"]),
        .target(
            name: "TestSupport", dependencies: ["SynclogJournal", "SynclogTestKit"], path: "Tests/TestSupport"
        ),
        .target(name: "TestLanes", dependencies: ["SynclogJournal"], path: "Tests/TestLanes"),
        .testTarget(
            name: "SynclogJournalTests", dependencies: ["SynclogJournal", "TestLanes", "TestSupport"]),
        .testTarget(
            name: "SynclogRecordsTests",
            dependencies: ["SynclogJournal", "SynclogRecords", "TestLanes", "TestSupport"]),
        .testTarget(
            name: "SynclogReplicationTests",
            dependencies: [
                "SynclogJournal", "SynclogRecords", "SynclogReplication", "TestLanes", "TestSupport",
            ]),
        .testTarget(
            name: "SynclogCLITests",
            dependencies: [
                "SynclogCLI", "SynclogJournal", "SynclogRecords", "SynclogReplication", "TestLanes",
                "TestSupport",
            ]),
        .testTarget(
            name: "SynclogTestKitTests",
            dependencies: ["SynclogJournal", "SynclogTestKit", "TestLanes", "TestSupport"]),
        .testTarget(name: "DocumentationTests", dependencies: ["SynclogRecords", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

let features: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableExperimentalFeature("Lifetimes"),
]
for target in package.targets where target.type != .system {
    let isTest =
        target.type == .test
        || ["TestLanes", "TestSupport", "SynclogBenchmarks", "SynclogFuzz"].contains(target.name)
    target.swiftSettings = features + (isTest ? [] : [.strictMemorySafety()])
}
