import ArgumentParser
import Foundation
import Logging

/// What a shell offers for an argument.
enum Completions {
  static let levels = CompletionKind.list(Logger.Level.allCases.map(\.rawValue))

  static let formats = CompletionKind.list(["automerge", "meetingnotes", "markdown", "json", "automerge-repo"])

  /// The titles of this person's notes.
  ///
  /// Read from the names of the working files in the default folder: the store is not opened, let alone made, for a key.
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

  /// Whether every shell takes a word for what it says. Other people choose titles, and bash expands the words that it is
  /// offered: `$(…)` in one of them would be run at the press of a key.
  private static func isHarmless(_ title: String) -> Bool {
    let isPlain = title.unicodeScalars.allSatisfy { scalar in
      scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || " -_.,+@".unicodeScalars.contains(scalar)
    }
    return isPlain && !title.hasPrefix("-") && !title.hasPrefix(".")
  }
}
