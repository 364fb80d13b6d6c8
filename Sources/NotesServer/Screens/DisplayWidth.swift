/// How many columns text takes on a terminal.
enum DisplayWidth {
  /// - Complexity: O(n); plain ASCII needs only its length
  static func of(_ text: String) -> Int {
    var isPlain = true
    for byte in text.utf8 where byte >= 0x80 {
      isPlain = false
      break
    }
    guard !isPlain else { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + of($1) }
  }

  static func of(_ scalar: Unicode.Scalar) -> Int {
    guard scalar.value >= 0x300 else { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(scalar.value) ? 2 : 1
    }
  }

  /// East Asian wide characters, and emoji.
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
      0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  /// The text in at most `width` columns, with an ellipsis for what is cut. The mark behind a name stays.
  static func cut(_ text: String, to width: Int) -> String {
    guard of(text) > width else { return text }
    if let marked = NameMark.cut(text, to: width, measuredBy: of, cut) { return marked }
    var scalars = String.UnicodeScalarView(), left = width - 1
    for scalar in text.unicodeScalars {
      left -= of(scalar)
      guard left >= 0 else { break }
      scalars.append(scalar)
    }
    return width > 0 ? String(scalars) + "…" : ""
  }
}
