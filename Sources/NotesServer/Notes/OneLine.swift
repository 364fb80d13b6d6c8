/// Makes titles safe to list. They come from peers, and each has one line of a list: no character of theirs may break the line
/// or turn the writing direction of what follows.
enum OneLine {
  /// The text without direction controls, with a blank for each other control and line end.
  static func shown(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if !isHarmful(scalar) { scalars.append(scalar) } else if !scalar.properties.isBidiControl { scalars.append(" ") }
    }
    return String(scalars)
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: scalar.properties.isBidiControl
    }
  }
}
