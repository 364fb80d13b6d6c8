// swift-tools-version: 6.2
import PackageDescription

// Programs as others write them: they see nothing of this package but its products. `make outside` builds them so; `make test`
// builds the same files as targets of the package itself, which takes seconds instead of minutes.

let package = Package(
  name: "outside",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "notes-lsp", path: "../..")],
  targets: [
    .executableTarget(
      name: "chat",
      dependencies: [
        .product(name: "Automerge", package: "notes-lsp"), .product(name: "AutomergeRepo", package: "notes-lsp"),
        .product(name: "PeerNetwork", package: "notes-lsp"),
        .product(name: "WebSocketNetwork", package: "notes-lsp"),
      ],
      path: "Sources/Chat"),
    .testTarget(
      name: "OutsideTests",
      dependencies: [
        "chat",
        .product(name: "Automerge", package: "notes-lsp"), .product(name: "AutomergeRepo", package: "notes-lsp"),
        .product(name: "SQLiteStorage", package: "notes-lsp"), .product(name: "FileStorage", package: "notes-lsp"),
        .product(name: "PeerNetwork", package: "notes-lsp"),
        .product(name: "WebSocketNetwork", package: "notes-lsp"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
