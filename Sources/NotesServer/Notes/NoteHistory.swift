import Automerge
import AutomergeRepo
import Foundation

/// The authors of a note's changes.
///
/// The document has a name for every author under `people`, which every writer can change. So the names of this person and of
/// people met come from what is known of their keys, and any other is shown as claimed. Whether the owner of the key made a
/// change is another question: a change that no one vouches for is shown as unverified.
@AutomergeRepo
struct NoteAuthors {
  private static let maximumNameLength = 80

  /// The names in the document are read when they are needed: a writer can add any number.
  private let document: Document
  private let people: ObjId?
  private let own: (person: String, name: String)
  private let isAlone: Bool
  private let met: ([UInt8]) -> String?

  /// - Parameters:
  ///   - isAlone: whether the note is shared with no peer. Otherwise a peer may pose as the tutorial's robot
  ///   - met: the name of the person whose key begins with these bytes, if this person has met them
  init(
    of note: NoteDocument, own: (person: String, name: String), isAlone: Bool, met: @escaping ([UInt8]) -> String?
  ) {
    (self.own, self.isAlone, self.met) = (own, isAlone, met)
    document = note.document
    people =
      if case .Object(let people, .Map)? = try? note.document.get(obj: .ROOT, key: "people") { people } else { nil }
  }

  /// The name of a person in the document, by the first half of actor ids.
  private func nameInDocument(of person: String) -> String? {
    guard let people, case .Object(let entry, .Map)? = try? document.get(obj: people, key: person),
      case .Scalar(.String(let name))? = try? document.get(obj: entry, key: "name")
    else { return nil }
    return name
  }

  /// The person's name, marked if only the document says it; of an unknown person the beginning of the actor id.
  ///
  /// - Parameter isVerified: whether this person is vouched for as the author of the changes in question.
  func name(of actor: ActorId, isVerified: Bool) -> String {
    let person = Self.person(of: actor)
    if person == Tutor.person, isAlone { return Tutorial.robot }
    let known = person == own.person ? own.name : met(Array(actor.bytes.prefix(8)))
    let claimed = known == nil ? nameInDocument(of: person).flatMap(Self.oneLine) : nil
    let marks = [claimed == nil ? nil : "claimed", isVerified ? nil : "unverified"].compactMap(\.self)
    let name = known ?? claimed ?? String(person.prefix(8))
    return marks.isEmpty ? name : "\(name) (\(marks.joined(separator: ", ")))"
  }

  /// A name written by another person, as one line of limited length; nil if nothing is left.
  private static func oneLine(_ name: String) -> String? {
    let line = OneLine.shown(String(String.UnicodeScalarView(name.unicodeScalars.prefix(maximumNameLength))))
    return line.allSatisfy(\.isWhitespace) ? nil : line
  }

  /// The key under `people` for an actor: the first half of the actor id, in hexadecimal.
  nonisolated static func person(of actor: ActorId) -> String { String(actor.hexadecimal.prefix(16)) }
}

/// A part of a text that was replaced, in whole lines.
struct TextHunk {
  /// The range of the new lines, in UTF-8 bytes of the new text.
  var range: Range<Int>
  var old: [UInt8]
  var new: [UInt8]

  /// The lines that a delta changed, from top to bottom.
  static func hunks(of delta: TextDelta) -> [TextHunk] {
    var hunks: [TextHunk] = [], offset = 0, isOpen = false
    func begin() {
      if !isOpen { hunks.append(TextHunk(range: offset..<offset, old: [], new: [])) }
      isOpen = true
    }
    for segment in delta.segments {
      switch segment {
      case .retain(let count):
        isOpen = false
        offset += count
      case .insert(let piece):
        begin()
        offset += piece.count
        hunks[hunks.count - 1].new += piece.bytes
        hunks[hunks.count - 1].range = hunks[hunks.count - 1].range.lowerBound..<offset
      case .delete(let piece):
        begin()
        hunks[hunks.count - 1].old += piece.bytes
      }
    }
    return hunks
  }
}

extension TextDelta {
  /// The part of the delta within a range of the old text, ends included.
  func limited(to part: Range<Int>) -> TextDelta {
    var builder = DeltaBuilder(), offset = 0
    for (index, segment) in segments.enumerated() {
      switch segment {
      case .retain(let count):
        builder.retain(count)
        offset += count
      case .insert(let piece):
        // At the range's end, what replaces the text behind it is no part of it.
        var isReplacement = false
        if index + 1 < segments.count, case .delete = segments[index + 1] { isReplacement = true }
        if part.contains(offset) || offset == part.upperBound && !isReplacement { builder.insert(piece) }
      case .delete(let piece):
        let end = offset + piece.count
        let lower = min(max(part.lowerBound, offset), end), upper = max(min(part.upperBound, end), lower)
        builder.retain(lower - offset)
        builder.delete(TextPiece(Array(piece.bytes[(lower - offset)..<(upper - offset)])))
        builder.retain(end - upper)
        offset = end
      }
    }
    return builder.delta
  }
}
