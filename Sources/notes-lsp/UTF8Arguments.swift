import ArgumentParser
import Foundation

/// The arguments as the shell passed them. `CommandLine` replaces what is not UTF-8.
enum UTF8Arguments {
  /// Throws if a title or a name has replaced characters: the person has typed others.
  static func check(_ argument: String?, _ what: String) throws {
    guard let argument, argument.unicodeScalars.contains("\u{FFFD}"), !areSound else { return }
    throw ValidationError("The \(what) is not UTF-8.")
  }

  private static var areSound: Bool {
    (0..<Int(CommandLine.argc)).allSatisfy { index in
      CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
    }
  }
}
