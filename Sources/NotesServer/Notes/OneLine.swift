/// Makes titles safe to list. They come from peers, and each is one line of a list: none of its characters may break
/// the line or reverse the writing direction of what follows.
enum OneLine {
  /// The text without direction controls, with a blank for each other control character and line end.
  static func shown(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if !isHarmful(scalar) { scalars.append(scalar) } else if !scalar.properties.isBidiControl { scalars.append(" ") }
    }
    return String(scalars)
  }

  /// Control characters, line and paragraph separators, and what changes the direction of writing.
  static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
