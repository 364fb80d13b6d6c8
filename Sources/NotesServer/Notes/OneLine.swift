/// Titles come from peers, and stand in lists with one line for each: no character of theirs begins a line, turns the direction
/// of what follows, or does anything else but stand there.
enum OneLine {
  /// The text without controls of direction, with a blank for each other control and end of line.
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
