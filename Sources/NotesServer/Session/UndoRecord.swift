import Automerge
import AutomergeRepo
import Foundation

/// The stored undo history of one process's editor in a note, which makes undo work after a restart.
struct UndoRecord {
  static let collection = "undo"
  /// How many groups are stored, the latest.
  static let maximumGroups = 200

  var groups: UndoGroups
  var time: Date
  var written: Written
  /// The text object, if another one may replace it.
  var object: String?
  /// Whether the editor had closed the note: what the process changed after that, another program had written to the file.
  var isOfClosed = false

  /// The author that wrote in that process, and how many of the document's changes were this author's.
  struct Written: Hashable {
    var actor: ActorId
    var count: Int
  }

  static func prefix(_ note: NoteKey) -> StorageKey { [collection] + note.names }

  func item(_ note: NoteKey, run: String) -> StoredItem {
    var actors: [ActorId] = []
    func index(of actor: ActorId) -> Int {
      if let index = actors.firstIndex(of: actor) { return index }
      actors.append(actor)
      return actors.count - 1
    }
    /// The time, and for each range the author, the first number and the last.
    func encoded(_ groups: [UndoGroups.Group]) -> CBOR {
      .array(
        groups.suffix(Self.maximumGroups).map { group in
          let places = group.places.flatMap { [index(of: $0.actor), $0.numbers.lowerBound, $0.numbers.upperBound] }
          return .array(([group.time] + places).map(CBOR.integer))
        })
    }
    let (undo, redo) = (encoded(groups.undoable), encoded(groups.redoable))
    let record = CBOR.record([
      "time": .integer(time.milliseconds), "undo": undo, "redo": redo, "actor": .integer(index(of: written.actor)),
      "number": .integer(written.count), "actors": .array(actors.map { .bytes($0.data) }),
      "object": object.map(CBOR.text), "closed": isOfClosed ? true : nil,
    ])
    return StoredItem(key: Self.prefix(note) + [run], data: Data(record.encoded()))
  }

  /// Nil if the bytes are not a record.
  init?(_ data: Data) {
    guard let record = try? CBOR(data, limits: .stored), let actors = record["actors"]?.array,
      let writer = record["actor"]?.integer, actors.indices.contains(writer), let count = record["number"]?.integer,
      count >= 0
    else { return nil }
    let authors = actors.map { $0.bytes.flatMap { ActorId(data: $0) } }
    guard let author = authors[writer] else { return nil }
    func groups(_ name: String) -> [UndoGroups.Group] {
      (record[name]?.array ?? []).suffix(Self.maximumGroups).compactMap { entry in
        guard let numbers = entry.array?.compactMap(\.integer), numbers.count % 3 == 1 else { return nil }
        let places = stride(from: 1, to: numbers.count, by: 3).compactMap { start -> UndoGroups.Place? in
          guard authors.indices.contains(numbers[start]), let actor = authors[numbers[start]],
            numbers[start + 1] <= numbers[start + 2]
          else { return nil }
          return UndoGroups.Place(actor: actor, numbers: numbers[start + 1]...numbers[start + 2])
        }
        return UndoGroups.Group(changes: [], places: places, time: numbers[0])
      }
    }
    self.init(
      groups: UndoGroups(undoable: groups("undo"), redoable: groups("redo")),
      time: Date(milliseconds: record["time"]?.integer ?? 0),
      written: Written(actor: author, count: count), object: record["object"]?.text,
      isOfClosed: record["closed"]?.bool ?? false)
  }

  init(groups: UndoGroups, time: Date, written: Written, object: String?, isOfClosed: Bool = false) {
    (self.groups, self.time, self.written, self.object) = (groups, time, written, object)
    self.isOfClosed = isOfClosed
  }

  /// Merges several processes' records: everything that can be undone, in the order of time, and what the last one
  /// could redo.
  static func merged(_ records: [UndoRecord]) -> UndoGroups {
    var seen: Set<UndoGroups.Group> = []
    let groups = records.flatMap(\.groups.undoable).filter { seen.insert($0).inserted }
    let last = records.max { $0.time < $1.time }
    return UndoGroups(
      undoable: groups.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(
        \.element),
      redoable: last?.groups.redoable ?? [])
  }
}

extension UndoGroups {
  /// The same with each group's changes by author and number. Known numbers are not looked up again.
  mutating func locate(in document: Document) {
    for index in undoable.indices.suffix(UndoRecord.maximumGroups) { undoable[index].locate(in: document) }
    for index in redoable.indices.suffix(UndoRecord.maximumGroups) { redoable[index].locate(in: document) }
  }

  /// Extends the last group by changes that a process made after it had last stored this.
  mutating func extend(_ written: UndoRecord.Written, to count: Int, date: Int) {
    guard count > written.count else { return }
    let new = Place(actor: written.actor, numbers: written.count + 1...count)
    if let last = undoable.indices.last, undoable[last].places.last?.actor == written.actor,
      undoable[last].places.last?.numbers.upperBound == written.count
    {
      undoable[last].places.append(new)
    } else {
      undoable.append(Group(changes: [], places: [new], time: date))
    }
    redoable = []
  }
}

extension UndoGroups.Group {
  fileprivate mutating func locate(in document: Document) {
    let known = places.reduce(0) { $0 + $1.numbers.count }
    guard known < changes.count else { return }
    for change in changes[known...] {
      guard let (actor, number) = document.authorship(of: change) else { continue }
      if let last = places.indices.last, places[last].actor == actor, places[last].numbers.upperBound + 1 == number {
        places[last].numbers = places[last].numbers.lowerBound...number
      } else {
        places.append(UndoGroups.Place(actor: actor, numbers: number...number))
      }
    }
  }
}
