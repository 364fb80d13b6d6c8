import Foundation

/// The conformance vectors: cases made with the reference implementation, read where they lie.
///
/// They are looked for in `$NOTES_SHARED/vectors`, else in `../shared/vectors` beside the package.
public enum Vectors {
  /// One case of `public`.
  public struct Case: Sendable, CustomStringConvertible {
    public let name: String
    public let json: JSON
    /// The document as the reference saved it; nil for sync cases.
    public let saved: [UInt8]?
    public var description: String { name }
  }

  /// One input of `negative` or `upstream`, with the verdicts on it.
  public struct Input: Sendable, CustomStringConvertible {
    public let name: String
    public let bytes: [UInt8]
    public let verdict: JSON
    public var description: String { name }
  }

  /// The package's own folder.
  public static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Where the shared material lies; nil if it is not there.
  public static let shared: URL? = {
    let named = ProcessInfo.processInfo.environment["NOTES_SHARED"].map { URL(filePath: $0) }
    let folder = named ?? packageRoot.deletingLastPathComponent().appending(path: "shared")
    return FileManager.default.fileExists(atPath: folder.appending(path: "vectors/public").path) ? folder : nil
  }()

  public static var arePresent: Bool { shared != nil }
  /// Why tests are skipped when they are.
  public static let absence = "no vectors: neither $NOTES_SHARED nor ../shared holds vectors/public"

  /// Names of the cases in `public` that start with `prefix`.
  public static func names(prefix: String = "") -> [String] {
    guard let folder = shared?.appending(path: "vectors/public"),
      let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    else { return [] }
    return files.filter { $0.hasSuffix(".json") && $0.hasPrefix(prefix) && $0 != "manifest.json" }
      .map { String($0.dropLast(5)) }.sorted()
  }

  /// Names of the cases that are a document, not a sync session.
  public static func documentNames() -> [String] { names().filter { !$0.hasPrefix("sync_") } }

  public static func load(_ name: String) throws -> Case {
    guard let folder = shared?.appending(path: "vectors/public") else { throw CocoaError(.fileNoSuchFile) }
    let json = try JSON.parse(Data(contentsOf: folder.appending(path: name + ".json")))
    let saved = try? Data(contentsOf: folder.appending(path: name + ".automerge"))
    return Case(name: name, json: json, saved: saved.map(Array.init))
  }

  /// The inputs of a folder with a manifest: `negative` or `upstream`.
  public static func inputs(of folderName: String) throws -> [Input] {
    guard let folder = shared?.appending(path: "vectors/\(folderName)") else { return [] }
    let manifest = try JSON.parse(Data(contentsOf: folder.appending(path: "manifest.json")))
    return try (manifest["cases"].items + manifest["files"].items).compactMap { verdict in
      guard let name = verdict["file"].string else { return nil }
      return Input(name: name, bytes: Array(try Data(contentsOf: folder.appending(path: name))), verdict: verdict)
    }
  }
}
