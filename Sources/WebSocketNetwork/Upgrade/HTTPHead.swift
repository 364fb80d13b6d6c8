/// Why bytes are not the beginning of an HTTP message that we accept.
enum HTTPError: Error, Hashable {
  case tooLong
  /// A line that is not HTTP/1.1, or that different programs read differently.
  case malformed
}

/// The beginning of an HTTP/1.1 message: its first line and its fields. Source: RFC 9112.
///
/// Strict where programs disagree, because an attacker could exploit the difference: lines end with CR LF, no line
/// continues another, no space before a colon, no control characters.
struct HTTPHead: Hashable {
  /// Source: our own choice, which is also the limit of most servers.
  static let maximumByteCount = 8 << 10
  private static let end: [UInt8] = [13, 10, 13, 10]

  /// The parts of the first line: a request's method, target and version; a response's version, status and reason.
  let start: [String]
  /// In the order of arrival, with the names in lower case.
  private let fields: [(name: String, value: String)]

  static func == (one: HTTPHead, other: HTTPHead) -> Bool {
    one.start == other.start && one.fields.elementsEqual(other.fields, by: ==)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(start)
    for (name, value) in fields { hasher.combine([name, value]) }
  }

  /// Reads a head and the empty line after it.
  ///
  /// - Returns: nil until the empty line has arrived; then the head and how many bytes it has
  static func read(_ bytes: [UInt8]) throws(HTTPError) -> (head: HTTPHead, byteCount: Int)? {
    let searched = bytes.prefix(maximumByteCount)
    guard let end = searched.indices.first(where: { searched[$0] == 13 && searched[$0...].starts(with: Self.end) })
    else {
      if bytes.count >= maximumByteCount { throw .tooLong }
      // Bytes that are not text are refused before the head is complete.
      guard searched.allSatisfy({ isText($0) || $0 == 13 || $0 == 10 }) else { throw .malformed }
      return nil
    }
    return (try HTTPHead(lines: bytes[..<end]), end + Self.end.count)
  }

  private init(lines: ArraySlice<UInt8>) throws(HTTPError) {
    var texts: [String] = []
    var rest = lines
    while true {
      let line = rest.prefix { $0 != 13 }
      guard line.allSatisfy(Self.isText) else { throw .malformed }
      texts.append(String(decoding: line, as: UTF8.self))
      rest = rest.dropFirst(line.count)
      guard !rest.isEmpty else { break }
      guard rest.starts(with: [13, 10]) else { throw .malformed }
      rest = rest.dropFirst(2)
    }
    let first = texts[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard first.count >= 2, !first[0].isEmpty, !first[1].isEmpty else { throw .malformed }
    start = first
    var fields: [(name: String, value: String)] = []
    for line in texts.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { throw .malformed }
      let name = line[..<colon]
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { throw .malformed }
      let value = line[line.index(after: colon)...]
      fields.append((name.lowercased(), Self.trimmed(value)))
    }
    self.fields = fields
  }

  /// The value of a field; nil if the field is missing or occurs several times.
  func only(_ name: String) -> String? {
    let values = values(name)
    return values.count == 1 ? values[0] : nil
  }

  func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// Whether a list, which may be spread over several fields, contains this word in any case.
  func lists(_ word: String, in name: String) -> Bool {
    values(name).contains { value in
      value.split(separator: ",").contains { Self.trimmed($0).lowercased() == word }
    }
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let inner = text.drop { $0 == " " || $0 == "\t" }
    return String(inner.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }

  /// Visible ASCII, space, tab, and bytes beyond ASCII.
  private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 9 }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
