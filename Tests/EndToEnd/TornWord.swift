import Automerge
import Foundation

/// Whether a word is split in a document because two people typed after the same letter at the same time.
///
/// One person was in the middle of the word; the other's lines begin after the part of it that had arrived. Neither
/// change knew of the other, and both insert after the same letter: every Automerge then orders them by their numbers.
/// Splitting a word whose rest was already known is a fault.
struct TornWord {
  private let document: Document

  init(in document: Document) { self.document = document }

  /// The word must begin its line, as words typed at the start of a line do.
  func explains(_ word: String) throws -> Bool {
    try texts(in: .ROOT).contains { try explains(Array(word.utf8), in: $0) }
  }

  private func explains(_ word: [UInt8], in obj: ObjId) throws -> Bool {
    let text = Array(try document.text(obj: obj).utf8)
    let blame = try document.blame(obj: obj)
    func change(at offset: Int) -> ChangeHash? { blame.first { $0.start <= offset && offset < $0.end }?.change }
    for place in text.indices where place == 0 || text[place - 1] == 0x0A {
      let begun = zip(word, text[place...]).prefix { $0 == $1 }.count
      guard begun > 0, begun < word.count else { continue }
      let rest = word[begun...]
      for next in text.indices.dropFirst(place + begun + 1) where text[next...].starts(with: rest) {
        guard let between = change(at: place + begun), let end = change(at: next) else { continue }
        if try !isKnown(between, to: end), try !isKnown(end, to: between) { return true }
      }
    }
    return false
  }

  /// Whether a change is the same as another, or among those on top of which the other was made.
  private func isKnown(_ change: ChangeHash, to other: ChangeHash) throws -> Bool {
    var (open, seen): ([ChangeHash], Set<ChangeHash>) = ([other], [other])
    while let next = open.popLast() {
      if next == change { return true }
      for dep in document.change(hash: next)?.deps ?? [] where seen.insert(dep).inserted { open.append(dep) }
    }
    return false
  }

  private func texts(in obj: ObjId) throws -> [ObjId] {
    try document.values(obj: obj).flatMap { value -> [ObjId] in
      guard case .Object(let child, let type) = value else { return [] }
      return type == .Text ? [child] : try texts(in: child)
    }
  }
}
