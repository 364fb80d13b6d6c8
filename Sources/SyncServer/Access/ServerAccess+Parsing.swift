import AutomergeRepo
import Foundation
import JSONRPC

extension ServerAccess {
  /// The longest file, with room for about ten thousand tokens.
  public static let maximumByteCount = 4 << 20

  /// Reads and parses the file.
  public init(path: String) throws(ServerAccessError) {
    guard let file = fopen(path, "rb") else { throw .unreadable(path: path, reason: Self.systemError) }
    defer { fclose(file) }
    var status = stat()
    guard fstat(fileno(file), &status) == 0 else { throw .unreadable(path: path, reason: Self.systemError) }
    guard status.st_mode & S_IWOTH == 0 else { throw .writableByAll(path: path) }
    var bytes = [UInt8](repeating: 0, count: Self.maximumByteCount + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { throw .unreadable(path: path, reason: Self.systemError) }
    guard count <= Self.maximumByteCount else { throw .tooLong(path: path, limit: Self.maximumByteCount) }
    try self.init(parsing: Array(bytes[..<count]))
    isReadableByOthers = status.st_mode & S_IROTH != 0
  }

  /// The error of the last system call.
  private static var systemError: String { String(cString: strerror(errno)) }

  /// Strict: an unknown member is an error, because a misspelt one would silently allow or forbid something.
  public init(parsing bytes: [UInt8]) throws(ServerAccessError) {
    self.init()
    let file: JSONValue
    do {
      file = try JSONValue(parsing: bytes)
    } catch {
      throw .notJSON(at: error.position ?? bytes.count, in: bytes)
    }
    let members = try Self.members(of: file, at: "the file", known: ["default", "origins", "tokens", "peers"])
    if let value = members["default"] { fallback = try Self.fallback(value) }
    if let value = members["origins"] { origins = try Self.origins(value) }
    try readTokens(members["tokens"])
    try readPeers(members["peers"])
  }

  private mutating func readTokens(_ value: JSONValue?) throws(ServerAccessError) {
    guard let value else { return }
    guard let entries = value.objectValue else { throw .wrong(place: "tokens", cure: "write {\"TOKEN\": {…}, …}") }
    for (number, entry) in entries.members.enumerated() {
      let place = "tokens, entry \(number + 1)"
      let token = try token(entry.key, at: place)
      // It would be unclear which of two entries counts.
      guard rule(for: token) == nil else { throw .wrong(place: place, cure: "this token is listed twice") }
      add(try Self.rule(entry.value, at: place), for: token)
    }
  }

  /// A token, or the digest of one.
  private mutating func token(_ text: String, at place: String) throws(ServerAccessError) -> AccessToken {
    if text.hasPrefix(AccessToken.digestPrefix) {
      guard let token = AccessToken(hexadecimal: String(text.dropFirst(AccessToken.digestPrefix.count))) else {
        throw .wrong(place: place, cure: "write sha256: and the 64 hexadecimal digits of a token's SHA-256")
      }
      return token
    }
    // The characters that an HTTP header can carry.
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw .wrong(place: place, cure: "a token has printable ASCII characters and no blanks")
    }
    hasOpenTokens = true
    return AccessToken(text)
  }

  private mutating func readPeers(_ value: JSONValue?) throws(ServerAccessError) {
    guard let value else { return }
    guard let entries = value.objectValue else { throw .wrong(place: "peers", cure: "write {\"PEER-ID\": {…}, …}") }
    for (number, entry) in entries.members.enumerated() {
      let place = "peers, entry \(number + 1)"
      guard !entry.key.isEmpty else { throw .wrong(place: place, cure: "the peer id is missing") }
      guard peers[PeerId(entry.key)] == nil else { throw .wrong(place: place, cure: "this peer is listed twice") }
      peers[PeerId(entry.key)] = try Self.rule(entry.value, at: place)
    }
  }

  private static func origins(_ value: JSONValue) throws(ServerAccessError) -> Origins {
    if value.stringValue == "*" { return .all }
    guard let list = value.arrayValue else { throw .wrong(place: "origins", cure: "write \"*\" or a list of sites") }
    var origins: Set<String> = []
    for (number, item) in list.enumerated() {
      guard let text = item.stringValue?.lowercased(), let host = text.range(of: "://")?.upperBound,
        host < text.endIndex,
        !text[host...].contains("/")
      else {
        throw .wrong(
          place: "origins, item \(number + 1)", cure: "write a site as a browser names it: \"https://notes.example\"")
      }
      origins.insert(text)
    }
    return .listed(origins)
  }

  // MARK: Rules

  /// A rule, or only an access, which then applies to all documents.
  private static func fallback(_ value: JSONValue) throws(ServerAccessError) -> AccessRule {
    guard value.stringValue != nil else { return try rule(value, at: "default") }
    return AccessRule(access: try access(value, at: "default"))
  }

  private static func rule(_ value: JSONValue, at place: String) throws(ServerAccessError) -> AccessRule {
    let members = try members(of: value, at: place, known: ["access", "documents", "create"])
    guard let access = members["access"] else {
      throw .wrong(place: place, cure: "add \"access\": \"none\", \"read\" or \"write\"")
    }
    var rule = AccessRule(access: try Self.access(access, at: "\(place), access"))
    if let documents = members["documents"] {
      rule.documents = try Self.documents(documents, at: "\(place), documents")
    }
    if let create = members["create"] {
      guard let mayCreate = create.boolValue else {
        throw .wrong(place: "\(place), create", cure: "write true or false")
      }
      guard !mayCreate || rule.access == .write else {
        throw .wrong(place: "\(place), create", cure: "only \"access\": \"write\" can create documents")
      }
      rule.mayCreate = mayCreate
    }
    return rule
  }

  private static func access(_ value: JSONValue, at place: String) throws(ServerAccessError) -> Access {
    guard let access = value.stringValue.flatMap({ Access(rawValue: $0) }) else {
      throw .wrong(place: place, cure: "write \"none\", \"read\" or \"write\"")
    }
    return access
  }

  private static func documents(
    _ value: JSONValue, at place: String
  ) throws(ServerAccessError) -> AccessRule.Documents {
    if value.stringValue == "*" { return .all }
    guard let list = value.arrayValue else { throw .wrong(place: place, cure: "write \"*\" or a list of document ids") }
    var ids: Set<DocumentId> = []
    for (number, item) in list.enumerated() {
      guard let id = item.stringValue.flatMap({ DocumentId($0) }) else {
        throw .wrong(
          place: "\(place), item \(number + 1)", cure: "this is not a document id; notes-lsp list prints them")
      }
      ids.insert(id)
    }
    return .listed(ids)
  }

  private static func members(
    of value: JSONValue, at place: String, known: [String]
  ) throws(ServerAccessError) -> JSONObject {
    guard let object = value.objectValue else { throw .wrong(place: place, cure: "write an object, {…}") }
    for member in object.members where !known.contains(member.key) {
      // Quoted and cut. Never a token, because the members of a rule or of the file are not tokens.
      let name = String(member.key.prefix(32).filter { $0.isASCII && !$0.isNewline })
      let choices = known.map { "\"\($0)\"" }.joined(separator: ", ")
      throw .wrong(place: place, cure: "\"\(name)\" is unknown here; known are \(choices)")
    }
    return object
  }
}

extension ServerAccessError {
  /// The place of a byte, as an editor shows it.
  static func notJSON(at position: Int, in bytes: [UInt8]) -> ServerAccessError {
    let before = bytes.prefix(position)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return .notJSON(line: line, column: position - start + 1)
  }
}
