// swift-tools-version: 6.2
import PackageDescription

// Entry points for libFuzzer. A package of its own, since all of it is built with coverage: `make fuzz`.

let package = Package(
  name: "notes-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "notes-lsp", path: "../.."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  ],
  targets: [
    .target(
      name: "FuzzSupport",
      dependencies: [
        .product(name: "Automerge", package: "notes-lsp"), .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .executableTarget(name: "FuzzLoad", dependencies: ["FuzzSupport"]),
    .executableTarget(name: "FuzzApply", dependencies: ["FuzzSupport"]),
    .executableTarget(name: "FuzzSync", dependencies: ["FuzzSupport"]),
    .executableTarget(
      name: "FuzzMessages", dependencies: [.product(name: "HostileShapes", package: "notes-lsp")]),
    .executableTarget(name: "FuzzWords", dependencies: [.product(name: "HostileShapes", package: "notes-lsp")]),
    .executableTarget(name: "FuzzFormats", dependencies: [.product(name: "HostileShapes", package: "notes-lsp")]),
    .executableTarget(name: "FuzzMeeting", dependencies: [.product(name: "HostileShapes", package: "notes-lsp")]),
    .executableTarget(
      name: "FuzzPresence", dependencies: [.product(name: "HostileShapes", package: "notes-lsp")]),
    .executableTarget(name: "FuzzLinks", dependencies: [.product(name: "HostileShapes", package: "notes-lsp")]),
  ],
  swiftLanguageModes: [.v6]
)
