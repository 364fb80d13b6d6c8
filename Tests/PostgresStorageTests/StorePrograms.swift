import Foundation

enum StorePrograms {
  /// The program that commits until it is killed, beside this one.
  static var writer: String? {
    for candidate in CommandLine.arguments + [Bundle.main.bundlePath, Bundle.main.executablePath ?? ""] {
      var folder = URL(fileURLWithPath: candidate)
      for _ in 0..<4 {
        folder.deleteLastPathComponent()
        let path = folder.appendingPathComponent("postgres-writer").path
        if FileManager.default.isExecutableFile(atPath: path) { return path }
      }
    }
    return nil
  }
}
