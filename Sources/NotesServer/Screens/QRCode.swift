import CQREncode

/// A text as a QR code of half-block characters, which a telephone reads from a terminal. Two rows of modules are one line.
struct QRCode {
  /// Dark modules are blanks and light ones are blocks, because most terminals are dark and readers accept both.
  let lines: [String]

  /// The light border around the code, in modules; the standard asks for four, and readers make do with two.
  private static let margin = 2

  /// Nil if the text is too long for a code.
  init?(_ text: String) {
    guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
    defer { QRcode_free(code) }
    let width = Int(code.pointee.width)
    guard let data = code.pointee.data else { return nil }
    // False outside of the code, whose surroundings are light.
    func isDark(_ x: Int, _ y: Int) -> Bool {
      0..<width ~= x && 0..<width ~= y && data[y * width + x] & 1 == 1
    }
    let range = -Self.margin..<(width + Self.margin)
    lines = stride(from: range.lowerBound, to: range.upperBound, by: 2).map { y in
      String(
        range.map { x -> Character in
          switch (isDark(x, y), y + 1 >= range.upperBound || isDark(x, y + 1)) {
          case (false, false): "█"
          case (false, true): "▀"
          case (true, false): "▄"
          case (true, true): " "
          }
        })
    }
  }
}
