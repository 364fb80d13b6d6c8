import Automerge
import Foundation

/// A meeting's document: `{title, attendees: [text], agendas: [{id, title, discussion: Text}]}`.
///
/// Reading is lenient. An item without an id goes by its place; of items with equal ids the later ones get a number.
struct MeetingDocument {
  struct Item: Hashable {
    /// Unique in the document.
    var id: String
    var title: String
    /// Where in `agendas` it is.
    var index: Int
    let object: ObjId
    /// Nil if the discussion is missing, or no text object.
    var discussion: ObjId?
  }

  let document: Document
  private let agendas: ObjId
  /// The state that is read; nil for the present.
  private let heads: Set<ChangeHash>?

  /// Nil unless the root has a list `agendas`.
  ///
  /// - Parameter heads: a state of the past, in which items and their texts can be looked up.
  init?(_ document: Document, at heads: Set<ChangeHash>? = nil) {
    guard case .Object(let agendas, .List)? = Self.value(document, .ROOT, "agendas", heads) else { return nil }
    (self.document, self.agendas, self.heads) = (document, agendas, heads)
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
    for (index, item) in content.agendas.enumerated() { try insert(item, at: index) }
  }

  var title: String { OneLine.shown(text(.ROOT, "title") ?? "") }

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
    let values = try? heads.map { try document.valuesAt(obj: agendas, heads: $0) } ?? document.values(obj: agendas)
    for (index, value) in (values ?? []).enumerated() {
      guard case .Object(let object, .Map) = value else { continue }
      let own = text(object, "id") ?? "\(index + 1)"
      var (id, number) = (own, 1)
      while !taken.insert(id).inserted {
        number += 1
        id = "\(own)#\(number)"
      }
      var discussion: ObjId?
      if case .Object(let text, .Text)? = Self.value(document, object, "discussion", heads) { discussion = text }
      items.append(
        Item(
          id: id, title: OneLine.shown(text(object, "title") ?? ""), index: index, object: object,
          discussion: discussion))
    }
    return items
  }

  func item(_ id: String) -> Item? { items.first { $0.id == id } }

  var content: MeetingContent {
    MeetingContent(
      title: title, attendees: attendees,
      agendas: items.map { item in
        MeetingContent.Item(id: item.id, title: item.title, discussion: text(item.object, "discussion") ?? "")
      })
  }

  // MARK: Changing; the caller commits

  /// Whether every item has a text to edit.
  var isComplete: Bool { items.allSatisfy { $0.discussion != nil } }

  /// Gives a text to each item that has none; what stands there as a plain string goes into it.
  func complete() throws {
    for item in items where item.discussion == nil {
      let old = text(item.object, "discussion") ?? ""
      try write(old, to: item.object, "discussion")
    }
  }

  /// - Parameter index: among `items`; after the last if there is none there.
  func insert(_ item: MeetingContent.Item, at index: Int) throws {
    let place = items.dropFirst(max(0, index)).first?.index ?? Int(document.length(obj: agendas))
    let object = try document.insertObject(obj: agendas, index: UInt64(place), ty: .Map)
    try document.put(obj: object, key: "id", value: .String(item.id))
    try document.put(obj: object, key: "title", value: .String(item.title))
    try write(item.discussion, to: object, "discussion")
  }

  func rename(_ item: Item, to title: String) throws {
    if case .Object(let text, .Text)? = try document.get(obj: item.object, key: "title") {
      try document.updateText(obj: text, value: title)
    } else {
      try document.put(obj: item.object, key: "title", value: .String(title))
    }
  }

  func rename(to title: String) throws {
    if case .Object(let text, .Text)? = try document.get(obj: .ROOT, key: "title") {
      try document.updateText(obj: text, value: title)
    } else {
      try document.put(obj: .ROOT, key: "title", value: .String(title))
    }
  }

  func delete(_ item: Item) throws { try document.delete(obj: agendas, index: UInt64(item.index)) }

  /// Puts an item elsewhere. A list knows no moving: it is made anew there with its text, and deleted here. What somebody
  /// else types into the old one at the same moment is not in the new one.
  func move(_ item: Item, to index: Int) throws {
    let moved = MeetingContent.Item(
      id: text(item.object, "id") ?? item.id, title: item.title, discussion: text(item.object, "discussion") ?? "")
    try delete(item)
    try insert(moved, at: index)
  }

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
