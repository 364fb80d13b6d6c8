import Foundation
import TestSupport

@testable import Automerge

/// A document that is changed by every door that the library has, and what its users have put in since the beginning.
struct Doors {
  struct Note: Codable {
    var title: String
    var body: AutomergeText
    var score: Counter
  }

  struct Model: Codable {
    var title = ""
    var tags: [String] = []
    var counts: [String: Int] = [:]
    var diary = AutomergeText()
    var votes = Counter()
    var scores: [Counter] = []
    var notes: [Note] = []
  }

  /// What was put in on all replicas. None of it is ever taken out.
  struct Ledger {
    var tags: Set<String> = []
    var keys: Set<String> = []
    var words: Set<String> = []
    var noteWords: Set<String> = []
    var votes = 0
    var scores = 0
    var noteScores = 0
    private var number = 0

    mutating func newName(_ prefix: String) -> String {
      number += 1
      return "\(prefix)\(number)."
    }
  }

  var typed: TypedDocument<Model>
  /// Bound values that the program has kept since it read them.
  private var held: (diary: AutomergeText, votes: Counter, scores: [Counter], notes: [Note])

  init(_ typed: TypedDocument<Model>) throws {
    self.typed = typed
    let content = try typed.content
    held = (content.diary, content.votes, content.scores, content.notes)
  }

  var document: Document { typed.document }

  private func object(_ path: String) throws -> ObjId {
    guard let object = try document.lookupPath(path: path) else { throw DocError.unknownObject(.ROOT) }
    return object
  }

  // MARK: Changing

  /// One change by a door that chance chooses.
  mutating func act(_ ledger: inout Ledger, _ random: inout SeededGenerator) throws {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: try setTitle(ledger.newName("title"), &random)
    case 1: try addTag(&ledger, &random)
    case 2: try addKey(&ledger, &random)
    case 3: try writeDiary(&ledger, &random)
    case 4: try vote(&ledger, &random)
    case 5: try score(&ledger, &random)
    case 6: try changeNotes(&ledger, &random)
    default:
      let content = try typed.content
      held = (content.diary, content.votes, content.scores, content.notes)
    }
  }

  private mutating func setTitle(_ title: String, _ random: inout SeededGenerator) throws {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try typed.change { $0.title = title }
    case 1: try document.put(obj: .ROOT, key: "title", value: .String(title))
    case 2: try AutomergeEncoder(doc: document).encode(title, at: [AnyCodingKey("title")])
    default: try document.put(obj: .ROOT, key: "title", value: AutomergeValue.scalar(.String(title)))
    }
    guard try typed.content.title == title else { throw DocError.invalidValue }
  }

  private mutating func addTag(_ ledger: inout Ledger, _ random: inout SeededGenerator) throws {
    let tag = ledger.newName("tag"), count = try typed.content.tags.count
    ledger.tags.insert(tag)
    let place = Int.random(in: 0...count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try typed.change { $0.tags.insert(tag, at: place) }
    case 1: try document.insert(obj: object("tags"), index: UInt64(place), value: .String(tag))
    case 2:
      var content = try typed.content
      content.tags.insert(tag, at: place)
      try AutomergeEncoder(doc: document).encode(content)
    default:
      guard case .array(var tags) = try document.hydrate(obj: object("tags")) else { throw DocError.invalidValue }
      tags.insert(.scalar(.String(tag)), at: place)
      try document.updateObject(obj: object("tags"), value: .array(tags))
    }
  }

  private mutating func addKey(_ ledger: inout Ledger, _ random: inout SeededGenerator) throws {
    let key = ledger.newName("key")
    ledger.keys.insert(key)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: try typed.change { $0.counts[key] = 1 }
    case 1: try AutomergeEncoder(doc: document).encode(1, at: [AnyCodingKey("counts"), AnyCodingKey(key)])
    default: try document.put(obj: object("counts"), key: key, value: .Int(1))
    }
  }

  private mutating func writeDiary(_ ledger: inout Ledger, _ random: inout SeededGenerator) throws {
    let word = ledger.newName("word")
    ledger.words.insert(word)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: held.diary.value += word
    case 1: try typed.change { $0.diary.value = word + $0.diary.value }
    case 2: try document.spliceText(obj: object("diary"), start: 0, delete: 0, value: word)
    case 3: try document.updateText(obj: object("diary"), value: document.text(obj: object("diary")) + word)
    default:
      let text = try AutomergeDecoder(doc: document).decode(AutomergeText.self, from: [AnyCodingKey("diary")])
      try text.update(to: text.value + word)
    }
  }

  private mutating func vote(_ ledger: inout Ledger, _ random: inout SeededGenerator) throws {
    let amount = Int.random(in: -5...5, using: &random)
    ledger.votes += amount
    switch Int.random(in: 0..<4, using: &random) {
    case 0: held.votes.increment(by: amount)
    case 1: try typed.change { $0.votes.value += amount }
    case 2: try document.increment(obj: .ROOT, key: "votes", by: Int64(amount))
    default: try Counter(doc: document, path: "votes").add(amount)
    }
  }

  private mutating func score(_ ledger: inout Ledger, _ random: inout SeededGenerator) throws {
    let amount = Int.random(in: 1...5, using: &random), count = try typed.content.scores.count
    ledger.scores += amount
    let place = Int.random(in: 0...count, using: &random)
    switch count == 0 ? 0 : Int.random(in: 0..<6, using: &random) {
    case 0: try typed.change { $0.scores.insert(Counter(amount), at: place) }
    case 1: try document.insert(obj: object("scores"), index: UInt64(place), value: .Counter(Int64(amount)))
    case 2:
      // One that is held counts where it was read, wherever that is now.
      if let counter = held.scores.randomElement(using: &random) {
        try counter.add(amount)
      } else {
        try document.increment(obj: object("scores"), index: 0, by: Int64(amount))
      }
    case 3: try typed.change { $0.scores[place % count].increment(by: amount) }
    case 4:
      var content = try typed.content
      let added = Counter(0)
      content.scores.insert(added, at: place)
      try AutomergeEncoder(doc: document).encode(content)
      added.increment(by: amount)
      held.scores.append(added)
    default: try document.increment(obj: object("scores"), index: UInt64(place % count), by: Int64(amount))
    }
  }

  private mutating func changeNotes(_ ledger: inout Ledger, _ random: inout SeededGenerator) throws {
    let word = ledger.newName("note"), count = try typed.content.notes.count
    ledger.noteWords.insert(word)
    ledger.noteScores += 1
    let place = Int.random(in: 0...count, using: &random)
    switch count == 0 ? 0 : Int.random(in: 0..<4, using: &random) {
    case 0:
      try typed.change { $0.notes.insert(Note(title: word, body: AutomergeText(word), score: Counter(1)), at: place) }
    case 1:
      let note = held.notes.randomElement(using: &random)
      if let note {
        note.body.value += word
        note.score.increment(by: 1)
      } else {
        try typed.change { model in
          model.notes[0].body.value += word
          model.notes[0].score.increment(by: 1)
        }
      }
    case 2:
      try typed.change { model in
        let note = model.notes[place % count]
        note.body.value = word + note.body.value
        note.score.value += 1
        model.notes[place % count].title = word
      }
    default:
      let path = "notes.[\(place % count)]"
      try document.spliceText(obj: object(path + ".body"), start: 0, delete: 0, value: word)
      try document.increment(obj: object(path), key: "score", by: 1)
    }
  }

  // MARK: Reading

  /// What the document holds, as each door reads it: they have to agree.
  func readings() throws -> [String: AutomergeValue] {
    let content = try typed.content
    func note(_ note: Note) -> AutomergeValue {
      .dict([
        "title": .scalar(.String(note.title)), "body": .text(note.body.value),
        "score": .scalar(.Counter(Int64(note.score.value))),
      ])
    }
    let decoded = AutomergeValue.dict([
      "title": .scalar(.String(content.title)), "tags": .array(content.tags.map { .scalar(.String($0)) }),
      "counts": .dict(content.counts.mapValues { .scalar(.Int(Int64($0))) }), "diary": .text(content.diary.value),
      "votes": .scalar(.Counter(Int64(content.votes.value))),
      "scores": .array(content.scores.map { .scalar(.Counter(Int64($0.value))) }),
      "notes": .array(content.notes.map(note)),
    ])
    let heads = document.heads()
    return [
      "hydrated": try document.hydrate(), "decoded": decoded, "values": try value(.Object(.ROOT, .Map)),
      "the past": try document.hydrateAt(heads: heads), "loaded": try Document(document.save()).hydrate(),
      "forked": try document.forkAt(heads: heads).hydrate(),
    ]
  }

  private func value(_ value: Value) throws -> AutomergeValue {
    switch value {
    case .Scalar(let scalar): .scalar(scalar)
    case .Object(let object, .Map):
      .dict(
        try Dictionary(
          uniqueKeysWithValues: document.keys(obj: object).map { key in
            (key, try self.value(document.get(obj: object, key: key) ?? .Scalar(.Null)))
          }))
    case .Object(let object, .List):
      .array(
        try (0..<document.length(obj: object)).map {
          try self.value(document.get(obj: object, index: $0) ?? .Scalar(.Null))
        })
    case .Object(let object, .Text): .text(try document.text(obj: object))
    }
  }

  /// What of a ledger is not in the document.
  func missing(of ledger: Ledger) throws -> [String] {
    let content = try typed.content
    var missing: [String] = []
    if Set(content.tags) != ledger.tags || content.tags.count != ledger.tags.count { missing.append("tags") }
    if Set(content.counts.keys) != ledger.keys { missing.append("keys") }
    missing += ledger.words.filter { content.diary.value.components(separatedBy: $0).count != 2 }
    let notes = content.notes.map(\.body.value).joined(separator: " ")
    missing += ledger.noteWords.filter { notes.components(separatedBy: $0).count != 2 }
    if content.votes.value != ledger.votes { missing.append("votes") }
    if content.scores.map(\.value).reduce(0, +) != ledger.scores { missing.append("scores") }
    if content.notes.map(\.score.value).reduce(0, +) != ledger.noteScores { missing.append("scores of notes") }
    return missing
  }
}
