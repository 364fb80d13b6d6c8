import Automerge

/// The difference between two texts: what was retained, inserted and deleted, from left to right.
///
/// Contains both the inserted and the deleted bytes, so a delta can be applied in both directions. Everything after the
/// last segment is retained. Between two retained parts the order of insertions and deletions matters: it says where
/// the new text is among the deleted elements, which a CRDT remembers with its tombstones.
struct TextDelta: Hashable, Sendable {
  enum Segment: Hashable, Sendable {
    case retain(Int)
    case insert(TextPiece)
    case delete(TextPiece)
  }

  /// Never empty, no two neighbours of one kind, and never a retained part at the end.
  private(set) var segments: [Segment] = []

  static let identity = TextDelta()

  var isIdentity: Bool { segments.isEmpty }

  /// Whether all lines of `text` stay intact, though text may be added at their ends: nothing is deleted, nothing is
  /// inserted inside a line, and no word becomes another, as "can" would in "can't".
  /// - Complexity: O(s) in the segments
  func keepsLines(of text: [UInt8]) -> Bool {
    var place = 0
    for segment in segments {
      switch segment {
      case .retain(let count): place += count
      case .insert(let piece):
        let (before, after) = (text[..<place].last ?? 0x0A, text[place...].first ?? 0x0A)
        guard before == 0x0A || after == 0x0A else { return false }
        if Self.prolongs(before, piece.bytes.first, piece.bytes.dropFirst().first) { return false }
        if Self.prolongs(after, piece.bytes.last, piece.bytes.dropLast().last) { return false }
      case .delete: return false
      }
    }
    return true
  }

  /// Whether a word that ends with `byte` continues with the next two bytes.
  private static func prolongs(_ byte: UInt8, _ next: UInt8?, _ afterNext: UInt8?) -> Bool {
    func isInWord(_ byte: UInt8?) -> Bool {
      switch byte ?? 0 {
      case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x80...: true
      default: false
      }
    }
    guard isInWord(byte), let next else { return false }
    return isInWord(next) || "'-./".utf8.contains(next) && isInWord(afterNext)
  }

  /// The delta that replaces `deleted`, which is at `utf8Offset`, by `inserted`.
  init(utf8Offset: Int, deleted: [UInt8], inserted: [UInt8]) {
    var builder = DeltaBuilder()
    builder.retain(utf8Offset)
    builder.insert(TextPiece(inserted))
    builder.delete(TextPiece(deleted))
    self = builder.delta
  }

  init() {}

  /// - Parameter segments: must be normal like `segments`, except that a retained part at the end is allowed and
  ///   ignored
  init(normal segments: [Segment]) {
    self.segments = segments
    if case .retain? = segments.last { self.segments.removeLast() }
  }

  /// By how many UTF-8 bytes the text grew.
  var growth: Int {
    segments.reduce(0) { sum, segment in
      switch segment {
      case .retain: sum
      case .insert(let piece): sum + piece.count
      case .delete(let piece): sum - piece.count
      }
    }
  }

  /// The inverse delta.
  var inverted: TextDelta {
    var result = TextDelta()
    result.segments = segments.map { segment in
      switch segment {
      case .retain: segment
      case .insert(let piece): .delete(piece)
      case .delete(let piece): .insert(piece)
      }
    }
    return result
  }

  /// The offset in the new text of a place in the old one: directly after the element before it, if that still exists.
  func map(_ offset: Int) -> Int {
    var (old, new) = (0, 0)
    for segment in segments {
      guard old < offset else { break }
      switch segment {
      case .retain(let count):
        if old + count >= offset { return new + (offset - old) }
        old += count
        new += count
      case .insert(let piece): new += piece.count
      case .delete(let piece): old += piece.count
      }
    }
    return new + max(0, offset - old)
  }

  /// The new text for this old one. Bytes that the delta expects past the end count as missing.
  func applied(to old: [UInt8]) -> [UInt8] {
    var new: [UInt8] = []
    new.reserveCapacity(max(0, old.count + growth))
    var index = 0
    for segment in segments {
      switch segment {
      case .retain(let count):
        let end = min(old.count, index + count)
        new += old[index..<end]
        index = end
      case .insert(let piece): new += piece.bytes
      case .delete(let piece): index = min(old.count, index + piece.count)
      }
    }
    return new + old[index...]
  }
}
