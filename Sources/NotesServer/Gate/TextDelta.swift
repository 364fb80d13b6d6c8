import Automerge

/// How one text became another: what was retained, inserted and deleted, from left to right.
///
/// Inserted and deleted bytes are both kept, so a delta can be walked from either side. What follows the last segment
/// stayed. Between two retained parts the order of insertions and deletions means something: it says where the new text
/// stands among the elements that are gone, which is what a CRDT remembers with its tombstones.
struct TextDelta: Hashable, Sendable {
  enum Segment: Hashable, Sendable {
    case retain(Int)
    case insert(TextPiece)
    case delete(TextPiece)
  }

  /// Never empty ones, never two of a kind side by side, never a retain at the end.
  private(set) var segments: [Segment] = []

  static let identity = TextDelta()

  var isIdentity: Bool { segments.isEmpty }

  /// Whether all lines of `text` stay, whole and next to what else is written on them: nothing is deleted, nothing is inserted
  /// inside a line, and no word becomes another, as "can" would in "can't".
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

  /// Whether a word that has `byte` at its end goes on with the next two bytes.
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

  /// The delta that replaces `deleted`, which stands at `utf8Offset`, by `inserted`.
  init(utf8Offset: Int, deleted: [UInt8], inserted: [UInt8]) {
    var builder = DeltaBuilder()
    builder.retain(utf8Offset)
    builder.insert(TextPiece(inserted))
    builder.delete(TextPiece(deleted))
    self = builder.delta
  }

  init() {}

  /// - Parameter segments: as `segments` are to be, but for a retain at the end, which says nothing.
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

  /// The way back.
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

  /// Where a place of the old text is in the new one: right after the element before it, if that is still there.
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

  /// The new text, given the old one. Bytes that the delta expects beyond the end are taken as absent.
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
