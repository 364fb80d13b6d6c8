/// Facts about a text file that are not part of the note's text: kept beside it and restored on writing.
struct FileShape: Hashable, Sendable, Codable {
  /// Whether every line ends with `\r\n`. In a file with other line ends, too, each `\r` belongs to the text.
  var hasCarriageReturns = false
  var hasByteOrderMark = false
  /// Whether the file's last line has no line feed, although the text has one.
  var lacksFinalNewline = false

  /// The default shape.
  static let plain = FileShape()
}

/// A file's text, with `\n` line ends, and its shape.
struct FileContents: Hashable, Sendable {
  var text: [UInt8]
  var shape: FileShape

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  init(text: [UInt8], shape: FileShape) { (self.text, self.shape) = (text, shape) }

  /// Decodes a file's bytes; `bytes` is the inverse.
  ///
  /// - Parameter known: the file's shape when it was last read. In a file whose lines all ended with `\r\n`, a line that another
  ///   program has ended with `\n`, or a lone `\r`, does not make the others text.
  init(reading file: [UInt8], known: FileShape? = nil) throws(NotTextError) {
    guard String(validating: file, as: UTF8.self) != nil else { throw .invalidUTF8 }
    (text, shape) = (file, .plain)
    if text.starts(with: Self.byteOrderMark) {
      shape.hasByteOrderMark = true
      text.removeFirst(Self.byteOrderMark.count)
    }
    if LineEnds.areCarriageReturns(text) || known?.hasCarriageReturns == true && LineEnds.hasPair(text) {
      shape.hasCarriageReturns = true
      text = LineEnds.unified(text)
    }
    if let last = text.last, last != 0x0A {
      shape.lacksFinalNewline = true
      text.append(0x0A)
    }
  }

  /// The file's bytes.
  var bytes: [UInt8] {
    var file = text
    if shape.lacksFinalNewline, file.last == 0x0A { file.removeLast() }
    if shape.hasCarriageReturns { file = LineEnds.withCarriageReturns(file) }
    return shape.hasByteOrderMark ? Self.byteOrderMark + file : file
  }

  /// The delta to `text` from the text that an editor may show of the file, without the missing final newline.
  var finalNewlineStep: TextDelta {
    guard shape.lacksFinalNewline, text.last == 0x0A else { return .identity }
    return TextDelta(utf8Offset: text.count - 1, deleted: [], inserted: [0x0A])
  }
}

/// Why a file cannot be a note.
enum NotTextError: Error, Hashable, CustomStringConvertible {
  case invalidUTF8

  var description: String {
    switch self {
    case .invalidUTF8: "it is not UTF-8"
    }
  }
}

/// Line ends in UTF-8: `\r\n` in files, `\n` in documents.
enum LineEnds {
  /// True if there are lines, and all of them end with `\r\n`. Other `\r` are text: Vim and Emacs, too, take such a file for one of DOS,
  /// and add a `\r` to each line when they write it.
  static func areCarriageReturns(_ text: [UInt8]) -> Bool {
    var (pairs, before) = (0, UInt8(0))
    for byte in text {
      if byte == 0x0A {
        guard before == 0x0D else { return false }
        pairs += 1
      }
      before = byte
    }
    return pairs > 0
  }

  static func hasPair(_ text: [UInt8]) -> Bool {
    text.indices.dropFirst().contains { text[$0] == 0x0A && text[$0 - 1] == 0x0D }
  }

  /// The text with `\n` for every `\r\n`.
  static func unified(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    for byte in text {
      if byte == 0x0A, result.last == 0x0D { result.removeLast() }
      result.append(byte)
    }
    return result
  }

  /// The text with `\r\n` for every `\n`.
  static func withCarriageReturns(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count + text.count / 16)
    for byte in text {
      if byte == 0x0A { result.append(0x0D) }
      result.append(byte)
    }
    return result
  }
}
