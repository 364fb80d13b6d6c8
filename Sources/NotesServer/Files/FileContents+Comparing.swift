import Cryptography

extension FileContents {
  /// The digest of a file's bytes, and its text; nil if it is none.
  @concurrent
  static func parsed(_ bytes: [UInt8], known: FileShape?) async -> (digest: [UInt8], contents: FileContents?) {
    (Array(SHA256.hash(data: bytes)), try? FileContents(reading: bytes, known: known))
  }

  /// Whether the file breaks off before the end of this text.
  func isBeginning(of text: [UInt8]) -> Bool {
    let bytes = shape.lacksFinalNewline ? self.text.dropLast() : self.text[...]
    return bytes.count < text.count && text.starts(with: bytes)
  }

  /// The text as the note may have it, which can lack the final newline, too: then its absence in the file is not an edit. Also
  /// reads `\r` line ends of classic Mac OS, which some editors still write.
  func text(besides note: [UInt8]) -> [UInt8] {
    var text = text
    if shape.lacksFinalNewline, note.last != 0x0A { text.removeLast() }
    guard text.contains(0x0D), !text.dropLast().contains(0x0A), !note.contains(0x0D) else { return text }
    return text.map { $0 == 0x0D ? 0x0A : $0 }
  }
}
