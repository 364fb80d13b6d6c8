// swift-tools-version: 6.2
import PackageDescription

// The targets stand in the order in which a keystroke passes them: editor, server, repo, document, and out to the peers.
// Imports point one way; `make build` refuses an import that is not declared here.

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "notes-lsp",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "notes-lsp", targets: ["notes-lsp"]),
    .library(name: "Automerge", targets: ["Automerge"]),
    .library(name: "AutomergeUtilities", targets: ["AutomergeUtilities"]),
    // A set of documents, with a store in memory; and beside it the stores and networks that a program chooses from.
    .library(name: "AutomergeRepo", targets: ["AutomergeRepo"]),
    .library(name: "SQLiteStorage", targets: ["SQLiteStorage"]),
    .library(name: "FileStorage", targets: ["FileStorage"]),
    // Peers nearby, over TLS, with the event loop that they run on.
    .library(name: "PeerNetwork", targets: ["PeerNetwork", "PeerTransport", "UV"]),
    // For the tests of those who write stores and networks of their own.
    .library(name: "AutomergeRepoConformance", targets: ["AutomergeRepoConformance"]),
    // Peers by WebSocket, in both roles, with the event loop that they run on.
    .library(name: "WebSocketNetwork", targets: ["WebSocketNetwork", "PeerTransport", "UV"]),
    // Storage in a PostgreSQL database, which processes on several machines share.
    .library(name: "PostgresStorage", targets: ["PostgresStorage"]),
    // For the fuzzers, which are a package of their own.
    .library(name: "HostileShapes", targets: ["HostileShapes"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // The command: options, wiring, exit codes.
    .executableTarget(
      name: "notes-lsp",
      dependencies: [
        "NotesServer", "JSONRPC", "AutomergeRepo", "Automerge", "SQLiteStorage", "Store", "PeerNetwork",
        "PeerTransport", "SyncServer",
        "PostgresStorage", "WebSocketNetwork", "UV",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict, plugins: ["CommitPlugin"]),

    // Writes down before each build from which commit it is made.
    .plugin(
      name: "CommitPlugin", capability: .buildTool(), path: "Sources/CommitPlugin", exclude: ["commit.sh"]),

    // The editor's side: buffers, positions, rebasing, cursors, the LSP methods.
    .target(
      name: "NotesServer",
      dependencies: [
        "JSONRPC", "AutomergeRepo", "Automerge", "CQREncode", .product(name: "Logging", package: "swift-log"),
        "Cryptography",
      ],
      swiftSettings: strict),

    // The base protocol of LSP: framing, ids, errors. Knows no method names.
    .target(name: "JSONRPC", swiftSettings: strict),

    // The set of documents: finding, creating, storing, syncing, and the messages between peers.
    .target(
      name: "AutomergeRepo",
      dependencies: [
        "Automerge", .product(name: "Logging", package: "swift-log"), "Cryptography",
      ],
      swiftSettings: strict),

    // What every storage and network provider must do, for the tests of their authors.
    .target(name: "AutomergeRepoConformance", dependencies: ["AutomergeRepo", "Automerge"], swiftSettings: strict),

    // The document: an Automerge replica in pure Swift. No I/O, no clock.
    .target(
      name: "Automerge",
      dependencies: ["CDeflate", "CZlib", "Cryptography"],
      swiftSettings: strict),

    // What helps to look at documents: their content as one value, an outline, equivalence.
    .target(name: "AutomergeUtilities", dependencies: ["Automerge"], swiftSettings: strict),

    // The storage provider on SQLite.
    .target(
      name: "SQLiteStorage",
      dependencies: [
        "AutomergeRepo", "FileStorage", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"), "Cryptography",
      ],
      swiftSettings: strict),

    // The storage provider on PostgreSQL, for services on several machines.
    .target(
      name: "PostgresStorage",
      dependencies: [
        "AutomergeRepo", "Automerge", "UV", "CPostgres", .product(name: "Logging", package: "swift-log"),
        "Cryptography",
      ],
      swiftSettings: strict),

    // The storage provider on plain files.
    .target(name: "FileStorage", dependencies: ["AutomergeRepo"], swiftSettings: strict),

    // The notes' working files, and the journals.
    .target(name: "Store", swiftSettings: strict),

    // Nearby peers and peers with a key: TLS over TCP, discovery, tickets, invitations; and the person's own processes.
    .target(
      name: "PeerNetwork",
      dependencies: [
        "AutomergeRepo", "PeerTransport", "UV", "CAvahi", .product(name: "Logging", package: "swift-log"),
        "Cryptography",
      ],
      swiftSettings: strict),

    // What belongs to servers that are always on: the access file and the metrics of our own, and the servers
    // that an editor's service is connected to.
    .target(
      name: "SyncServer",
      dependencies: [
        "AutomergeRepo", "Automerge", "JSONRPC", "PeerTransport", "WebSocketNetwork", "UV",
        .product(name: "Logging", package: "swift-log"), "Cryptography",
      ],
      swiftSettings: strict),

    // Peers by WebSocket, as automerge-repo's other implementations speak it.
    .target(
      name: "WebSocketNetwork",
      dependencies: [
        "AutomergeRepo", "Automerge", "PeerTransport", "UV", "CWslay", .product(name: "Logging", package: "swift-log"),
        "Cryptography",
      ],
      swiftSettings: strict),

    // One connection to a peer, whatever carries it: encryption, frames, handshake, limits, signs of life, reconnecting.
    .target(
      name: "PeerTransport",
      dependencies: ["AutomergeRepo", "UV", "COpenSSL", "Cryptography"],
      swiftSettings: strict),

    // libuv as Swift: loop, streams, timers, signals, work queue.
    .target(name: "UV", dependencies: ["CUV"], swiftSettings: strict),

    // Hashes, signatures and encryption of OpenSSL, as Swift. No I/O, no randomness of its own.
    .target(name: "Cryptography", dependencies: ["CCrypto"], swiftSettings: strict),

    // The doors to C.
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-core-dev"])]),
    .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
      name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
    // Debian's package has no file for pkg-config.
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"]), .brew(["wslay"])]),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .systemLibrary(
      name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    // Tests mirror Sources; what several of them need stands in TestSupport.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "RepoTestSupport", dependencies: ["AutomergeRepo", "Automerge", "UV", "TestSupport"],
      path: "Tests/RepoTestSupport", swiftSettings: strict),
    // Where Swift's runtime hands over the jobs of a process.
    .systemLibrary(name: "CTaskHooks", path: "Tests/CTaskHooks"),
    // Whole services of several people in one process, on simulated disks and networks, in virtual time.
    .target(
      name: "ServiceSimulation",
      dependencies: [
        "NotesServer", "JSONRPC", "AutomergeRepo", "Automerge", "RepoTestSupport", "NotesHarness", "CTaskHooks",
      ],
      path: "Tests/ServiceSimulation", swiftSettings: strict),
    // Seed after seed of it, for `make soak`.
    .executableTarget(
      name: "notes-soak", dependencies: ["ServiceSimulation", "AutomergeRepo"], path: "Tests/Soak",
      swiftSettings: strict),
    // Peers that do their worst, for tests and measures.
    .target(
      name: "HostilePeers",
      dependencies: [
        "PeerNetwork", "PeerTransport", "AutomergeRepo", "Automerge", "UV", "RepoTestSupport", "NotesHarness",
        "JSONRPC",
      ],
      path: "Tests/HostilePeers", swiftSettings: strict),
    // What must hold of any foreign bytes, for tests and fuzzers. Looks inside, so it needs a build that can be tested.
    .target(
      name: "HostileShapes",
      dependencies: ["NotesServer", "PeerNetwork", "PeerTransport", "AutomergeRepo", "Automerge", "JSONRPC"],
      path: "Tests/HostileShapes", swiftSettings: strict),
    .testTarget(name: "CryptographyTests", dependencies: ["Cryptography"], swiftSettings: strict),
    .testTarget(name: "AutomergeTests", dependencies: ["Automerge", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "AutomergeUtilitiesTests", dependencies: ["AutomergeUtilities", "Automerge"], swiftSettings: strict),
    .testTarget(
      name: "AutomergeRepoTests",
      dependencies: ["AutomergeRepo", "Automerge", "FileStorage", "RepoTestSupport", "HostilePeers", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "AutomergeRepoConformanceTests",
      dependencies: ["AutomergeRepoConformance", "AutomergeRepo", "FileStorage", "RepoTestSupport", "TestSupport"],
      swiftSettings: strict),
    // The samples of Providers.md, written as by an outside programmer.
    .testTarget(
      name: "ProviderGuide", dependencies: ["AutomergeRepo", "AutomergeRepoConformance", "TestSupport"],
      path: "Tests/ProviderGuide", swiftSettings: strict),
    // Programs that see nothing but the products, as others write them; `make outside` builds them as a package of their own.
    .executableTarget(
      name: "chat",
      dependencies: ["PeerNetwork", "WebSocketNetwork", "PeerTransport", "AutomergeRepo", "Automerge"],
      path: "Tests/OutsidePackage/Sources/Chat",
      swiftSettings: strict),
    .testTarget(
      name: "OutsideTests",
      dependencies: [
        "chat", "PeerNetwork", "WebSocketNetwork", "PeerTransport", "SQLiteStorage", "FileStorage", "AutomergeRepo",
        "Automerge",
      ],
      path: "Tests/OutsidePackage/Tests/OutsideTests", swiftSettings: strict),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "SQLiteStorage", "FileStorage", "Store", "AutomergeRepo", "AutomergeRepoConformance", "Automerge",
        "RepoTestSupport",
        "TestSupport", "store-writer",
        .product(name: "GRDB", package: "GRDB.swift"),
      ], swiftSettings: strict),
    // A process that commits until it is killed, for the tests that kill it.
    .executableTarget(
      name: "store-writer", dependencies: ["SQLiteStorage", "AutomergeRepo", "AutomergeRepoConformance"],
      path: "Tests/StoreWriter", swiftSettings: strict),
    .testTarget(
      name: "PostgresStorageTests",
      dependencies: [
        "PostgresStorage", "AutomergeRepo", "AutomergeRepoConformance", "Automerge", "UV", "RepoTestSupport",
        "TestSupport",
        "postgres-writer",
      ], swiftSettings: strict),
    // The same on a PostgreSQL server.
    .executableTarget(
      name: "postgres-writer", dependencies: ["PostgresStorage", "AutomergeRepo", "AutomergeRepoConformance", "UV"],
      path: "Tests/PostgresWriter", swiftSettings: strict),
    .testTarget(name: "UVTests", dependencies: ["UV", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "JSONRPCTests", dependencies: ["JSONRPC", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "PeerNetworkTests",
      dependencies: [
        "PeerNetwork", "PeerTransport", "AutomergeRepo", "AutomergeRepoConformance", "Automerge", "UV",
        "RepoTestSupport", "HostilePeers",
        "HostileShapes", "TestSupport", "NotesHarness", "JSONRPC",
      ], swiftSettings: strict),
    .testTarget(
      name: "SyncServerTests",
      dependencies: [
        "SyncServer", "PeerTransport", "AutomergeRepo", "Automerge", "JSONRPC", "UV", "RepoTestSupport", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "WebSocketNetworkTests",
      dependencies: [
        "WebSocketNetwork", "PeerTransport", "AutomergeRepo", "AutomergeRepoConformance", "Automerge", "UV",
        "RepoTestSupport", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "NotesServerTests",
      dependencies: [
        "NotesServer", "JSONRPC", "AutomergeRepo", "Automerge", "RepoTestSupport", "ServiceSimulation", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "Interop",
      dependencies: ["Automerge", "JSONRPC", "TestSupport", "NotesHarness"],
      path: "Tests/Interop",
      exclude: ["reference_peer.py", "websocket_peer.py"], swiftSettings: strict),
    // Peers of ours in a process of their own, for sessions with other implementations.
    .executableTarget(
      name: "websocket-peer", dependencies: ["WebSocketNetwork", "PeerTransport", "AutomergeRepo", "Automerge", "UV"],
      path: "Tests/WebSocketPeer", swiftSettings: strict),
    // A notes-lsp process and the editors around it, driven from outside.
    .target(
      name: "NotesHarness",
      dependencies: ["JSONRPC", "TestSupport", "Cryptography"],
      path: "Tests/NotesHarness", swiftSettings: strict),
    .testTarget(
      name: "EndToEnd", dependencies: ["NotesHarness", "Automerge", "JSONRPC", "TestSupport"],
      path: "Tests/EndToEnd",
      exclude: [
        "check_history.py", "cutting_proxy.py", "delay_proxy.py", "doubling_proxy.py", "hostile_mdns.py",
      ], swiftSettings: strict),
    .executableTarget(
      name: "notes-bench",
      dependencies: [
        "NotesHarness", "HostilePeers", "WebSocketNetwork", "PeerTransport", "AutomergeRepo", "Automerge", "UV",
        "JSONRPC", "SQLiteStorage",
        "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Benchmarks",
      exclude: [
        "live_bench.py", "reference_bench.py", "screen_bench.py", "screen_editors.py", "screen_plot.py", "slow_link.py",
      ], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// `make test` builds no targets that it does not run: a fifth of the lines below Tests.
let leftOut = Context.environment["NOTES_LEAVE_OUT"]?.split(separator: ",").map(String.init) ?? []
package.targets.removeAll { leftOut.contains($0.name) }
