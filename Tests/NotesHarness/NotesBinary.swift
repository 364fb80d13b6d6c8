import Foundation

/// Where the programs and files under test are.
public enum NotesBinary {
  /// The `notes-lsp` to test: `NOTES_LSP_BINARY`, else the one built into the same folder as this program.
  public static var path: String? {
    if let given = ProcessInfo.processInfo.environment["NOTES_LSP_BINARY"] { return given }
    // `swift test` runs a bundle inside the products' folder, or a helper of the toolchain that was given its path.
    let candidates = CommandLine.arguments + [Bundle.main.bundlePath, Bundle.main.executablePath ?? ""]
    for candidate in candidates {
      var folder = URL(fileURLWithPath: candidate)
      for _ in 0..<4 {
        folder.deleteLastPathComponent()
        let binary = folder.appendingPathComponent("notes-lsp").path
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: binary, isDirectory: &isDirectory), !isDirectory.boolValue {
          return binary
        }
      }
    }
    return nil
  }

  /// The package's root folder.
  public static var packageRoot: String {
    URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
  }

  /// Where a program is in `PATH`, nil if it is not installed.
  public static func find(_ program: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
