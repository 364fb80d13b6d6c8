import Automerge
import Foundation

/// A meeting's document: `{title, attendees: [text], agendas: [{id, title, discussion: Text}]}`.
///
/// Reading is lenient. An item without an id is identified by its place; of items with equal ids, the later ones get a
/// number.
///
/// An Automerge list cannot move elements: a moved item is created anew with two more members, `from`, the map that it
/// was made from, and `origin`, the first map of all. So items that several people moved at the same moment can be
/// recognised as copies of one item. The last copy in the order of object ids counts, which is the same everywhere.
struct MeetingDocument {
  struct Item: Hashable {
    /// Unique in the document.
    var id: String
    var title: String
    /// The item's index in `agendas`.
    var index: Int
    let object: ObjId
    /// Nil if the discussion is missing, or not a text object.
    var discussion: ObjId?
    /// The id, as text, of the map that was in the agenda before the item was first moved.
    var origin: String
    /// The item's other copies in `agendas`, made when several people moved it at the same moment.
    var copies: [Copy] = []
  }

  /// One of several copies of an item.
  struct Copy: Hashable {
    var index: Int
    let object: ObjId
  }

  let document: Document
  private let agendas: ObjId
  /// The heads to read at; nil for the present.
  private let heads: Set<ChangeHash>?

  /// Nil unless the root has a list `agendas`.
  ///
  /// - Parameter heads: a past state to read items and texts from.
  init?(_ document: Document, at heads: Set<ChangeHash>? = nil) {
    guard case .Object(let agendas, .List)? = Self.value(document, .ROOT, "agendas", heads) else { return nil }
    (self.document, self.agendas, self.heads) = (document, agendas, heads)
  }

  private init(_ meeting: MeetingDocument, at heads: Set<ChangeHash>) {
    (document, agendas, self.heads) = (meeting.document, meeting.agendas, heads)
  }

  /// Writes a meeting into `document`. The caller commits.
  init(new document: Document, _ content: MeetingContent) throws {
    try document.put(obj: .ROOT, key: "title", value: .String(content.title))
    let attendees = try document.putObject(obj: .ROOT, key: "attendees", ty: .List)
    for (index, name) in content.attendees.enumerated() {
      try document.insert(obj: attendees, index: UInt64(index), value: .String(name))
    }
    agendas = try document.putObject(obj: .ROOT, key: "agendas", ty: .List)
    (self.document, heads) = (document, nil)
    for (index, item) in content.agendas.enumerated() { try make(item, inPlace: index) }
  }

  /// Cut to the same length as a note's.
  var title: String { NoteDocument.shownTitle(text(.ROOT, "title") ?? "") }

  var attendees: [String] {
    guard case .Object(let list, .List)? = try? document.get(obj: .ROOT, key: "attendees") else { return [] }
    return ((try? document.values(obj: list)) ?? []).compactMap { value in
      switch value {
      case .Scalar(.String(let name)): name
      case .Object(let object, .Text): try? document.text(obj: object)
      case .Object, .Scalar: nil
      }
    }
  }

  /// - Complexity: O(n) in the items.
  var items: [Item] {
    var (items, taken): ([Item], Set<String>) = ([], [])
    // The last number given for each id, because thousands of items may have one id.
    var numbers: [String: Int] = [:]
    for copies in places {
      guard let last = copies.max(by: { $0.object < $1.object }) else { continue }
      let own = text(last.object, "id") ?? "\(last.index + 1)"
      var (id, number) = (own, numbers[own] ?? 1)
      while !taken.insert(id).inserted {
        number += 1
        id = "\(own)#\(number)"
      }
      numbers[own] = number
      items.append(
        Item(
          id: id, title: title(of: last.object), index: last.index, object: last.object,
          discussion: discussion(of: last.object), origin: origin(of: last.object),
          copies: copies.filter { $0.object != last.object }))
    }
    return items.sorted { $0.index < $1.index }
  }

  /// The copies of each item in `agendas`, the items in the order of their first copies.
  private var places: [[Copy]] {
    var (places, known): ([[Copy]], [[String]: Int]) = ([], [:])
    let values = try? heads.map { try document.valuesAt(obj: agendas, heads: $0) } ?? document.values(obj: agendas)
    for (index, value) in (values ?? []).enumerated() {
      guard case .Object(let object, .Map) = value else { continue }
      let copy = Copy(index: index, object: object)
      guard let id = text(object, "id") else {
        places.append([copy])
        continue
      }
      let place = known[[id, origin(of: object)]] ?? places.count
      if place == places.count {
        known[[id, origin(of: object)]] = place
        places.append([copy])
      } else {
        places[place].append(copy)
      }
    }
    return places
  }

  private func origin(of object: ObjId) -> String { text(object, "origin") ?? object.description }

  /// Cut to the same length as a note's.
  func title(of object: ObjId) -> String { NoteDocument.shownTitle(wholeTitle(of: object)) }

  private func wholeTitle(of object: ObjId) -> String { givenTitle(of: object) ?? text(object, "title") ?? "" }

  func discussion(of object: ObjId) -> ObjId? {
    guard case .Object(let text, .Text)? = Self.value(document, object, "discussion", heads) else { return nil }
    return text
  }

  /// - Complexity: O(n) in the items.
  func item(_ id: String) -> Item? { items.first { $0.id == id } }

  var content: MeetingContent {
    MeetingContent(
      title: OneLine.shown(text(.ROOT, "title") ?? ""), attendees: attendees,
      agendas: items.map { item in
        MeetingContent.Item(
          id: item.id, title: OneLine.shown(wholeTitle(of: item.object)),
          discussion: text(item.object, "discussion") ?? "")
      })
  }

  // MARK: Changing; the caller commits

  /// Whether every item has a text to edit.
  var isComplete: Bool { items.allSatisfy { $0.discussion != nil } }

  /// Gives a text to each item that has none; a plain string in its place becomes the text's content.
  func complete() throws {
    for item in items where item.discussion == nil {
      let old = text(item.object, "discussion") ?? ""
      try write(old, to: item.object, "discussion")
    }
  }

  /// - Parameter index: among `items`; past the end means after the last.
  /// - Returns: the item's map
  @discardableResult
  func insert(_ item: MeetingContent.Item, at index: Int) throws -> ObjId {
    let end = Int(document.length(obj: agendas))
    return try make(item, inPlace: index < end ? items.dropFirst(max(0, index)).first?.index ?? end : end)
  }

  @discardableResult
  private func make(_ item: MeetingContent.Item, inPlace place: Int) throws -> ObjId {
    let object = try document.insertObject(obj: agendas, index: UInt64(place), ty: .Map)
    try document.put(obj: object, key: "id", value: .String(item.id))
    try document.put(obj: object, key: "title", value: .String(item.title))
    try write(item.discussion, to: object, "discussion")
    return object
  }

  func rename(_ item: Item, to title: String) throws {
    if case .Object(let text, .Text)? = try document.get(obj: item.object, key: "title") {
      try document.updateText(obj: text, value: title)
    } else {
      try document.put(obj: item.object, key: "title", value: .String(title))
    }
  }

  /// Gives an item a title that a person gave to another of its maps.
  func bring(_ title: String, from object: ObjId, to item: Item) throws {
    try rename(item, to: title)
    try document.put(obj: item.object, key: Self.broughtKey(from: object), value: .String(title))
  }

  /// The titles that were last brought to an item's map from others of its maps, by these. None if the map has more keys than
  /// a program makes.
  func titlesBrought(to object: ObjId) -> [String: String] {
    guard keyCount(of: object) <= Self.maximumKeyCount else { return [:] }
    let keys = document.keys(obj: object).filter { $0.hasPrefix(Self.broughtKey) }
    return Dictionary(
      uniqueKeysWithValues: keys.compactMap { key in
        text(object, key).map { (String(key.dropFirst(Self.broughtKey.count)), $0) }
      })
  }

  func keyCount(of object: ObjId) -> Int { Int(clamping: document.length(obj: object)) }

  /// More titles than can be brought to an item of so many moves.
  private static let maximumKeyCount = 1024

  /// Whether the map's title was copied from another map.
  func isTitleBrought(to object: ObjId) -> Bool {
    givenTitle(of: object) == nil && text(object, "title").map(titlesBrought(to: object).values.contains) ?? false
  }

  /// The title that a person gave to a map at the moment when another one was brought to it; nil if that did not happen.
  private func givenTitle(of object: ObjId) -> String? {
    guard heads == nil, let titles = try? document.getAll(obj: object, key: "title"), titles.count > 1 else {
      return nil
    }
    let brought = titlesBrought(to: object).values
    guard let title = text(object, "title"), brought.contains(title) else { return nil }
    let given = titles.compactMap { value -> String? in
      if case .Scalar(.String(let title)) = value, !brought.contains(title) { title } else { nil }
    }
    return given.max()
  }

  private static let broughtKey = "title of "

  private static func broughtKey(from source: ObjId) -> String { broughtKey + source.description }

  func rename(to title: String) throws {
    if case .Object(let text, .Text)? = try document.get(obj: .ROOT, key: "title") {
      try document.updateText(obj: text, value: title)
    } else {
      try document.put(obj: .ROOT, key: "title", value: .String(title))
    }
  }

  func delete(_ item: Item) throws {
    try remove([item.index] + item.copies.map(\.index))
  }

  /// Removes the copies that do not count and that `author` has made.
  func removeCopies(of items: [Item], by author: ActorId) throws {
    try remove(items.flatMap(\.copies).filter { $0.object.actor == author }.map(\.index))
  }

  private func remove(_ indices: [Int]) throws {
    for index in indices.sorted(by: >) { try document.delete(obj: agendas, index: UInt64(index)) }
  }

  /// Moves an item: creates it anew at `index` with its text, and deletes it here. What another person types into the old one
  /// at the same moment is not in the new one; see `MovedItem`.
  func move(_ item: Item, to index: Int) throws {
    let moved = MeetingContent.Item(
      id: text(item.object, "id") ?? item.id, title: wholeTitle(of: item.object),
      discussion: text(item.object, "discussion") ?? "")
    try delete(item)
    let object = try insert(moved, at: index)
    try document.put(obj: object, key: "from", value: .String(item.object.description))
    try document.put(obj: object, key: "origin", value: .String(item.origin))
  }

  /// The title that a map had at a past state.
  func title(of object: ObjId, at heads: Set<ChangeHash>) -> String {
    MeetingDocument(self, at: heads).title(of: object)
  }

  /// The map that an item's map was made from when the item was moved, whether or not that is still in the agenda.
  func source(of object: ObjId) -> ObjId? { text(object, "from").flatMap(ObjId.init(description:)) }

  private func write(_ value: String, to object: ObjId, _ key: String) throws {
    let text = try document.putObject(obj: object, key: key, ty: .Text)
    try document.spliceText(obj: text, utf8Offset: 0, deleteUTF8: 0, insert: Array(value.utf8))
  }

  private func text(_ object: ObjId, _ key: String) -> String? {
    switch Self.value(document, object, key, heads) {
    case .Scalar(.String(let text)): text
    case .Object(let text, .Text):
      try? heads.map { try document.textAt(obj: text, heads: $0) } ?? document.text(obj: text)
    default: nil
    }
  }

  private static func value(_ document: Document, _ object: ObjId, _ key: String, _ heads: Set<ChangeHash>?) -> Value? {
    try? heads.map { try document.getAt(obj: object, key: key, heads: $0) } ?? document.get(obj: object, key: key)
  }
}
