import Automerge
import Foundation
import TestSupport
import Testing

/// Documents with everything in them, edited here and by the reference implementation, exchanged by files and by sync.
@Suite(.enabled(if: Reference.python != nil, Comment(rawValue: Reference.absence)), .serialized)
struct ReferenceDocumentTests {}

extension ReferenceDocumentTests {
  /// The sessions' seeds; `NOTES_REFERENCE_SESSIONS` asks for more sessions, `NOTES_REFERENCE_SEED` for one.
  private static let seeds: ClosedRange<UInt64> = {
    let environment = ProcessInfo.processInfo.environment
    if let one = environment["NOTES_REFERENCE_SEED"].flatMap({ UInt64($0) }) { return one...one }
    let asked = environment["NOTES_REFERENCE_SESSIONS"].flatMap { UInt64($0) }
    return 1...max(1, asked ?? 6)
  }()

  private static let words = ["a", "the ", "é", "\n", "😀", "e\u{301}", "漢字", "\u{feff}"]
  private static let keys = ["k", "key", "é", "z", "y", "x1", "x2", "x3", "x4"]

  private func scalar(_ random: inout SeededGenerator) -> ScalarValue {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .String(Self.words.randomElement(using: &random) ?? "")
    case 1: .Int([0, -1, 63, 64, .min, .max].randomElement(using: &random) ?? 0)
    case 2: .Uint([0, 127, 128, 1 << 40].randomElement(using: &random) ?? 0)
    case 3: .F64([0, -0.0, 1.5, -1e300, .infinity].randomElement(using: &random) ?? 0)
    case 4: .Boolean(Bool.random(using: &random))
    case 5: .Bytes(Data([0, 255, 7].prefix(Int.random(in: 0...3, using: &random))))
    case 6: .Null
    default: .String(String(repeating: "long ", count: 80))
    }
  }

  private func edit(_ document: Document, marking: Bool, _ random: inout SeededGenerator) throws {
    let kinds: [ObjType] = [.Map, .List, .Text]
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let (object, type) = objects(of: document).randomElement(using: &random) ?? (ObjId.ROOT, .Map)
      let length = document.length(obj: object), kind = kinds.randomElement(using: &random) ?? .Map
      let what = Int.random(in: 0..<7, using: &random)
      let key = Self.keys.randomElement(using: &random) ?? "k"
      let place = UInt64.random(in: 0...length, using: &random)
      switch (type, what) {
      case (.Map, 0...1): _ = try document.putObject(obj: object, key: key, ty: kind)
      case (.Map, 2): try document.delete(obj: object, key: key)
      case (.Map, 3) where object == .ROOT:
        // Counters the reference can keep but not show.
        if try document.get(obj: .ROOT, key: "counter") == nil {
          try document.put(obj: .ROOT, key: "counter", value: .Counter(7))
        } else {
          try document.increment(obj: .ROOT, key: "counter", by: Int64(place) - 2)
        }
      case (.Map, _): try document.put(obj: object, key: key, value: scalar(&random))
      case (.List, 0) where place < length: try document.delete(obj: object, index: place)
      case (.List, 1): _ = try document.insertObject(obj: object, index: place, ty: kind)
      case (.List, 2) where place < length: try document.put(obj: object, index: place, value: scalar(&random))
      case (.List, _): try document.insert(obj: object, index: place, value: scalar(&random))
      case (.Text, 0) where length > 1 && marking:
        let start = UInt64.random(in: 0..<length, using: &random)
        let expand = [ExpandMark.before, .after, .both, .none].randomElement(using: &random) ?? .after
        try document.mark(
          obj: object, start: start, end: UInt64.random(in: start...length, using: &random), expand: expand,
          name: "bold", value: .Int(Int64.random(in: 0...1, using: &random)))
      case (.Text, _):
        try document.spliceText(
          obj: object, start: place, delete: Int64(min(length - place, UInt64(what / 3))),
          value: Self.words.randomElement(using: &random))
      }
    }
    document.commitWith(
      message: Bool.random(using: &random) ? nil : "edit", timestamp: Date(timeIntervalSince1970: 1_000_000_000))
  }

  private func objects(of document: Document) -> [(ObjId, ObjType)] {
    var found: [(ObjId, ObjType)] = [(.ROOT, .Map)], next = 0
    while next < found.count {
      for value in (try? document.values(obj: found[next].0)) ?? [] {
        if case .Object(let id, let type) = value { found.append((id, type)) }
      }
      next += 1
    }
    return found
  }

  private func agree(_ ours: Document, _ theirs: ReferencePeer, _ note: Comment) throws {
    let status = try theirs.status()
    #expect(status.heads == ours.heads().map(\.description).sorted(), note)
    let dump = try JSON.parse(Data(ours.dump(includingChanges: false).text().utf8))
    let difference = try theirs.values().difference(from: dump["value"].asTheReferenceShowsIt)
    #expect(difference == nil, note)
  }

  /// Only one side of a session sets marks: of two concurrent ones with equal counters the older core of the package
  /// lets win the one whose actor it met last, not the one with the greater actor.
  @Test(arguments: seeds)
  func everythingIsTheSameOnBothSides(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func actor() -> [UInt8] { (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) } }
    let theirs = try ReferencePeer()
    var ours = Document(), state = SyncState()
    ours.actor = try #require(ActorId(data: Data(actor())))
    try theirs.setActor(actor())
    for _ in 0..<8 {
      for _ in 0..<3 {
        if Bool.random(using: &random) {
          try edit(ours, marking: seed % 2 == 0, &random)
        } else {
          _ = try theirs.editAnything(seed: random.next() >> 12, count: 6, marking: seed % 2 == 1)
        }
      }
      if Int.random(in: 0..<3, using: &random) == 0 {
        // By files: all of it there, and what is new here.
        _ = try theirs.merge(ours.save())
        let file = try theirs.save()
        if Bool.random(using: &random) {
          ours = try Document(file)
          ours.actor = try #require(ActorId(data: Data(actor())))
        } else {
          try ours.applyEncodedChanges(encoded: file)
        }
      } else {
        if Bool.random(using: &random) {
          state = try SyncState(bytes: state.encode())
          try theirs.forgetSyncState()
        }
        var silent = 0, count = 0
        while silent < 2, count < 40 {
          let message = ours.generateSyncMessage(state: state)
          let answer = try theirs.sync(message)
          if let answer { try ours.receiveSyncMessage(state: state, message: answer) }
          silent = message == nil && answer == nil ? silent + 1 : 0
          count += 1
        }
        #expect(count < 40, "seed \(seed)")
      }
      try agree(ours, theirs, "seed \(seed)")
      // Either reads what the other saves.
      #expect(try Document(theirs.save()).heads() == ours.heads(), "seed \(seed)")
    }
    #expect(try theirs.load(ours.save()).heads == ours.heads().map(\.description).sorted(), "seed \(seed)")
    try agree(ours, theirs, "seed \(seed), loaded anew")
  }
}

extension JSON {
  /// Typed JSON without what the reference's package does not tell.
  fileprivate var asTheReferenceShowsIt: JSON {
    let type = self["t"].string ?? ""
    switch type {
    case "map":
      let shown = self["v"].members.filter { !$0.key.hasPrefix("c") }
      return .object(["t": self["t"], "v": .object(shown.mapValues(\.asTheReferenceShowsIt))])
    case "list": return .object(["t": self["t"], "v": .array(self["v"].items.map(\.asTheReferenceShowsIt))])
    case "text":
      let marks: [JSON] = self["marks"].items.map { mark in
        .object([
          "start": mark["start"], "end": mark["end"], "name": mark["name"], "value": mark["value"]["v"],
        ])
      }
      return .object(["t": self["t"], "v": self["v"], "marks": .array(marks)])
    case "f64": return .object(["t": self["t"], "bits": self["bits"]])
    case "null": return .object(["t": self["t"]])
    default: return .object(["t": self["t"], "v": self["v"]])
    }
  }

  /// The first place where two differ, with both; nil if they are equal.
  fileprivate func difference(from other: JSON, at path: String = "") -> String? {
    switch (self, other) {
    case (.object(let mine), .object(let others)):
      for key in Set(mine.keys).union(others.keys).sorted() {
        if let found = self[key].difference(from: other[key], at: path + "/" + key) { return found }
      }
      return nil
    case (.array(let mine), .array(let others)) where mine.count == others.count:
      for index in mine.indices {
        if let found = mine[index].difference(from: others[index], at: path + "/\(index)") { return found }
      }
      return nil
    default: return self == other ? nil : "\(path): \(self) and \(other)"
    }
  }
}
