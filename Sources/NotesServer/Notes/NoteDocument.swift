import Automerge
import Foundation

/// A note's document: `{ "@notes": {"type", "version"}, title: Text, created: timestamp, content: Text, people }`.
///
/// Reading is lenient, because documents are made elsewhere, too: the text is the one that was chosen; otherwise
/// `content`, `text`, or the first text in the root.
struct NoteDocument: Sendable {
  let document: Document
  /// The text that the editor edits.
  private(set) var content: ObjId
  /// Whether the text was chosen among others; another may be chosen later.
  private var isChosen = false
  /// The agenda item that the text belongs to.
  var item: String?
  /// That item's map.
  private var itemObject: ObjId?

  /// Nil if there is no text in the document's root, or no such item.
  ///
  /// - Complexity: O(1), of an item O(n) in the agenda
  init?(_ document: Document, item: String? = nil) {
    let found = item.flatMap { MeetingDocument(document)?.item($0) }
    let chosen = item == nil ? Self.chosenText(of: document) : nil
    guard let text = item == nil ? chosen ?? Self.contentText(of: document) : found?.discussion else { return nil }
    (self.document, content, self.item, itemObject) = (document, text, item, found?.object)
    isChosen = chosen != nil
  }

  /// Nil if the item has no text.
  init?(_ document: Document, item: MeetingDocument.Item) {
    guard let text = item.discussion else { return nil }
    (self.document, content, self.item, itemObject) = (document, text, item.id, item.object)
  }

  /// Writes a new note with this first content into `document`. The caller commits.
  ///
  /// - Parameter onBytes: called with how many bytes of the text are written
  init(
    new document: Document, title: String, text: [UInt8], created: Date, onBytes: (Int) -> Void = { _ in }
  ) throws {
    let kind = try document.putObject(obj: .ROOT, key: "@notes", ty: .Map)
    try document.put(obj: kind, key: "type", value: .String("note"))
    try document.put(obj: kind, key: "version", value: .Uint(1))
    try document.put(obj: .ROOT, key: "created", value: .Timestamp(created))
    let titleText = try document.putObject(obj: .ROOT, key: "title", ty: .Text)
    try document.spliceText(obj: titleText, utf8Offset: 0, deleteUTF8: 0, insert: Array(title.utf8))
    content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    _ = try document.putObject(obj: .ROOT, key: "people", ty: .Map)
    self.document = document
    for portion in Self.portions(of: text) {
      if portion.startIndex > 0 { document.commitWith(message: nil, timestamp: created) }
      onBytes(portion.startIndex)
      try document.spliceText(obj: content, utf8Offset: portion.startIndex, deleteUTF8: 0, insert: Array(portion))
    }
  }

  /// A peer merges each change as a whole, and only a small one without delay, so a long text is several changes.
  static let maximumPortionBytes = 512 << 10

  /// The text in portions that each end a line, or at least a scalar; not empty.
  private static func portions(of text: [UInt8]) -> [ArraySlice<UInt8>] {
    var (portions, rest) = ([ArraySlice<UInt8>](), text[...])
    while rest.count > maximumPortionBytes {
      let most = rest.startIndex + maximumPortionBytes
      var end = rest[..<most].lastIndex(of: 0x0A).map { $0 + 1 } ?? most
      while end > rest.startIndex, rest[end].continuesScalar { end -= 1 }
      portions.append(rest[..<end])
      rest = rest[end...]
    }
    return portions + [rest]
  }

  /// The text object's id, if another one may replace it: a meeting's item that is moved gets a new text, and another
  /// text may be chosen.
  var textObject: String? { item == nil && !isChosen ? nil : content.description }

  /// The same item with a text that it had before it was moved.
  func with(earlier content: ObjId) -> NoteDocument {
    var note = self
    note.content = content
    return note
  }

  /// How long a title may be: titles come from peers, and are listed and shown.
  static let maximumTitleLength = 1000

  /// Cut to `maximumTitleLength` scalars.
  var title: String? {
    if let itemObject { return MeetingDocument(document)?.title(of: itemObject) }
    let title: String? =
      switch try? document.get(obj: .ROOT, key: "title") {
      case .Object(let text, .Text): try? document.text(obj: text)
      case .Scalar(.String(let title)): title
      default: nil
      }
    return title.map(Self.shownTitle)
  }

  /// A title as it is listed and shown.
  static func shownTitle(_ title: String) -> String {
    OneLine.shown(String(String.UnicodeScalarView(title.unicodeScalars.prefix(maximumTitleLength))))
  }

  /// Changes the title with the smallest edit. The caller commits.
  func rename(to title: String) throws {
    if let item {
      guard let meeting = MeetingDocument(document), let found = meeting.item(item) else { return }
      return try meeting.rename(found, to: title)
    }
    let new = Array(title.utf8)
    if case .Object(let text, .Text) = try document.get(obj: .ROOT, key: "title") {
      let old = Array(try document.text(obj: text).utf8)
      for splice in TextDiff.delta(from: old, to: new, placement: .beforeDeleted).splices {
        try document.spliceText(
          obj: text, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
      }
    } else {
      let text = try document.putObject(obj: .ROOT, key: "title", ty: .Text)
      try document.spliceText(obj: text, utf8Offset: 0, deleteUTF8: 0, insert: new)
    }
  }

  /// Makes splices in the text; each refers to the text after the earlier ones.
  func make(_ splices: [TextSplice]) throws {
    for splice in splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
  }

  var created: Date? {
    guard case .Scalar(.Timestamp(let date)) = try? document.get(obj: .ROOT, key: "created") else { return nil }
    return date
  }

  /// Records that `person` (16 hexadecimal digits) has written here under `name`. Makes no change if that is already recorded.
  /// The caller commits.
  func enter(person: String, name: String) throws { try Self.enter(person: person, name: name, in: document) }

  /// The same for a meeting as a whole.
  static func enter(person: String, name: String, in document: Document) throws {
    let people: ObjId
    if case .Object(let object, .Map) = try document.get(obj: .ROOT, key: "people") {
      people = object
    } else {
      people = try document.putObject(obj: .ROOT, key: "people", ty: .Map)
    }
    let entry: ObjId
    if case .Object(let object, .Map) = try document.get(obj: people, key: person) {
      entry = object
    } else {
      entry = try document.putObject(obj: people, key: person, ty: .Map)
    }
    if case .Scalar(.String(name))? = try document.get(obj: entry, key: "name") { return }
    try document.put(obj: entry, key: "name", value: .String(name))
  }

  /// When the note was deleted for everyone; nil if it was not, or the deletion was undone.
  static func deletion(of document: Document) -> Date? {
    guard case .Object(let kind, .Map)? = try? document.get(obj: .ROOT, key: "@notes"),
      case .Scalar(.Timestamp(let date))? = try? document.get(obj: kind, key: "deleted")
    else { return nil }
    return date
  }

  /// Marks the document as deleted for everyone who has it, or removes the mark. The caller commits.
  static func setDeletion(_ date: Date?, of document: Document) throws {
    let kind: ObjId
    if case .Object(let object, .Map)? = try document.get(obj: .ROOT, key: "@notes") {
      kind = object
    } else {
      guard date != nil else { return }
      kind = try document.putObject(obj: .ROOT, key: "@notes", ty: .Map)
    }
    if let date {
      try document.put(obj: kind, key: "deleted", value: .Timestamp(date))
    } else if try document.get(obj: kind, key: "deleted") != nil {
      try document.delete(obj: kind, key: "deleted")
    }
  }

  /// The text that the root says is the note.
  static func contentText(of document: Document) -> ObjId? {
    func text(_ key: String) -> ObjId? {
      guard case .Object(let text, .Text) = try? document.get(obj: .ROOT, key: key) else { return nil }
      return text
    }
    if let usual = text("content") ?? text("text") { return usual }
    return document.keys(obj: .ROOT).lazy.filter { $0 != "title" }.compactMap(text).first
  }
}
