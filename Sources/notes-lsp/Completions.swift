import ArgumentParser
import Foundation
import Logging

/// What a shell offers for an argument.
enum Completions {
  static let levels = CompletionKind.list(Logger.Level.allCases.map(\.rawValue))

  static let formats = CompletionKind.list(["automerge", "meetingnotes", "markdown", "json", "automerge-repo"])

  /// The titles of this person's notes.
  ///
  /// Read from the names of the working files in the default folder: pressing a key must not open the store, let alone
  /// create it.
  static let note = CompletionKind.custom { _, _, _ in
    (try? StoreOptions.parse([])).map { titles(in: $0.notesDirectory) } ?? []
  }

  static func titles(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name in
      if name.hasSuffix(".md") { return String(name.dropLast(3)) }
      // A meeting is a folder.
      var isFolder: ObjCBool = false
      let exists = FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isFolder)
      return exists && isFolder.boolValue ? name : nil
    }.filter(isHarmless).sorted()
  }

  /// Whether no shell interprets anything in a word. Other people choose titles, and bash expands the words that it is
  /// offered: at the press of a key it would run a `$(…)` in one of them.
  private static func isHarmless(_ title: String) -> Bool {
    let isPlain = title.unicodeScalars.allSatisfy { scalar in
      scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || " -_.,+@".unicodeScalars.contains(scalar)
    }
    return isPlain && !title.hasPrefix("-") && !title.hasPrefix(".")
  }
}
