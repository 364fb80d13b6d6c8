import Foundation

/// A place in a text or list that moves with the element it is attached to.
public struct Cursor: Hashable, Sendable {
  /// The form in which it is sent and stored. Format: automerge-format, section 6.4.
  public let bytes: Data

  /// Takes bytes unchecked. Methods that use the cursor throw `DocError.invalidCursor` if they are not a cursor.
  public init(bytes: Data) { self.bytes = bytes }

  /// Stays before everything.
  public static let start = Cursor(code: .start)
  /// Stays after everything.
  public static let end = Cursor(code: .end)

  init(code: CursorCode) { bytes = code.bytes }
}

extension Cursor: CustomStringConvertible {
  /// The bytes in upper-case hexadecimal.
  public var description: String { ActorId(bytes: bytes).description }
}

extension Cursor {
  /// Reads the form for people: `s`, `e`, or an operation as `counter@actor`, with `-` before it if the cursor moves
  /// back. Throws `DocError.invalidCursor` for anything else.
  public init(string: String) throws { self.init(code: try CursorCode(string: string)) }

  /// The form for people. Throws `DocError.invalidCursor` if the bytes are not a cursor.
  public func string() throws -> String { try CursorCode(bytes).string }
}

/// Where a cursor moves when its element is deleted: to the element before it, or to the one after it.
public enum MoveCursor: Hashable, Sendable { case before, after }

/// A place in a text or list.
public enum Position: Hashable, Sendable {
  case cursor(Cursor)
  /// In a text, counted in the document's text encoding.
  case index(UInt64)
}

/// The meaning of a cursor's bytes.
enum CursorCode: Equatable {
  case start
  case end
  case operation(actor: ActorId, counter: UInt32, move: MoveCursor)

  init(_ bytes: Data) throws(DocError) {
    do throws(FormatError) { self = try CursorCode.read(bytes) } catch { throw .invalidCursor }
  }

  private static func read(_ bytes: Data) throws(FormatError) -> CursorCode {
    var reader = ByteReader(Array(bytes))
    let version = try reader.byte()
    guard version <= 1 else { throw .invalid(.cursor, at: 0) }
    let tag = version == 0 ? 3 : try reader.byte()
    switch tag {
    case 1, 2:
      try reader.expectEnd()
      return tag == 1 ? .start : .end
    case 3:
      let actor = try reader.actor(), counter = try reader.uleb32()
      let move = version == 0 ? 2 : try reader.byte()
      guard counter > 0, move == 1 || move == 2 else { throw .invalid(.cursor, at: reader.offset) }
      try reader.expectEnd()
      return .operation(actor: actor, counter: counter, move: move == 1 ? .before : .after)
    default: throw .invalid(.cursor, at: 1)
    }
  }

  var bytes: Data {
    var writer = ByteWriter()
    writer.byte(1)
    switch self {
    case .start: writer.byte(1)
    case .end: writer.byte(2)
    case .operation(let actor, let counter, let move):
      writer.byte(3)
      writer.actor(actor)
      writer.uleb(UInt64(counter))
      writer.byte(move == .before ? 1 : 2)
    }
    return Data(writer.bytes)
  }

  init(string: String) throws(DocError) {
    switch string {
    case "s": self = .start
    case "e": self = .end
    default:
      let move: MoveCursor = string.hasPrefix("-") ? .before : .after
      let parts = string.dropFirst(move == .before ? 1 : 0).split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].utf8.allSatisfy({ (48...57).contains($0) }), let counter = UInt32(parts[0]),
        counter > 0, let actor = ActorId(hexadecimal: parts[1])
      else { throw .invalidCursor }
      self = .operation(actor: actor, counter: counter, move: move)
    }
  }

  var string: String {
    switch self {
    case .start: "s"
    case .end: "e"
    case .operation(let actor, let counter, let move): "\(move == .before ? "-" : "")\(counter)@\(actor.hexadecimal)"
    }
  }
}

extension ActorId {
  /// Nil unless there are at most `FormatLimits.actorByteCount` bytes, each of two hexadecimal digits.
  init?(hexadecimal text: some StringProtocol) {
    let digits = text.utf8.map { byte -> UInt8? in
      switch byte {
      case 48...57: byte - 48
      case 65...70: byte - 55
      case 97...102: byte - 87
      default: nil
      }
    }
    guard digits.count.isMultiple(of: 2), digits.count <= 2 * FormatLimits.actorByteCount else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[place], let low = digits[place + 1] else { return nil }
      bytes.append(high << 4 | low)
    }
    self.init(bytes: bytes)
  }
}
