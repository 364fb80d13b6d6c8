/// The names of working files: `<Title>.md`, whatever the title.
enum FileName {
  static let fileExtension = ".md"
  static let untitled = "Untitled"
  /// File systems' limit for one name.
  static let maximumUTF8 = 255

  /// Safe names for a title, to try until one is free: `Title.md`, `Title 2.md`, ….
  static func candidates(
    for title: String, ending: String = fileExtension, atMost count: Int = 10_000
  ) -> some Sequence<String> {
    (1...max(1, count)).lazy.map { name(forTitle: title, number: $0, ending: ending) }
  }

  /// The known extension of a file's name, as written there; empty if it has none.
  static func ending(ofFile name: String) -> String {
    for ending in endings where name.lowercased().hasSuffix(ending) { return String(name.suffix(ending.count)) }
    return ""
  }

  private static let endings = [".md", ".markdown", ".txt", ".org"]
  private static let importedEndings = [".automerge", ".meetingnotes", ".json"]

  /// Whether a file with this name may belong to a note with this title.
  static func isName(_ name: String, forTitle title: String) -> Bool {
    let stem = FileName.title(ofFile: name)
    let wanted = FileName.title(ofFile: FileName.name(forTitle: title))
    guard stem != wanted, stem != title else { return true }
    guard stem.hasPrefix(wanted + " ") else { return false }
    return stem.dropFirst(wanted.count + 1).allSatisfy { ("0"..."9").contains($0) }
  }

  /// A valid name: without a path, not hidden, no option, not empty, without control characters, and no longer than a file system
  /// allows.
  static func name(forTitle title: String, number: Int = 1, ending: String = fileExtension) -> String {
    let suffix = (number > 1 ? " \(number)" : "") + ending
    var stem = ""
    var length = suffix.utf8.count
    for character in safe(title) {
      length += character.utf8.count
      guard length <= maximumUTF8 else { break }
      stem.append(character)
    }
    while let last = stem.last, last == "." || last == " " { stem.removeLast() }
    return (stem.isEmpty ? untitled : stem) + suffix
  }

  /// The title of a file that became a note: its name without the extension.
  static func title(ofFile name: String) -> String {
    let base = name.split(separator: "/").last.map(String.init) ?? name
    for ending in endings where base.lowercased().hasSuffix(ending) {
      let stem = String(base.dropLast(ending.count))
      if !stem.isEmpty { return stem }
    }
    return base.isEmpty ? untitled : base
  }

  /// The title of an imported file that has none itself: its name without the extension.
  static func title(ofImported name: String) -> String {
    let ending = importedEndings.first { name.lowercased().hasSuffix($0) }
    return title(ofFile: ending.map { String(name.dropLast($0.count)) } ?? name)
  }

  /// The title on one line, without characters that a path, a terminal or a hidden file would interpret. Nor does a name
  /// begin like an option: to `vim *`, a file "+!command" is an order.
  private static func safe(_ title: String) -> Substring {
    var scalars = String.UnicodeScalarView()
    for scalar in title.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
        if scalars.last != " " { scalars.append(" ") }
      case .format where scalar.value != 0x200C && scalar.value != 0x200D: break
      case .surrogate, .unassigned: scalars.append("-")
      default: scalars.append(scalar == "/" || scalar == "\\" ? "-" : scalar)
      }
    }
    return String(scalars).drop { ". -+".contains($0) }
  }
}
