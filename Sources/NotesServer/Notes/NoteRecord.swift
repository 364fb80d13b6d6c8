import Automerge
import AutomergeRepo
import Foundation

/// What the store keeps of a note beside its document.
struct NoteRecord: Hashable {
  let id: DocumentId
  /// Which agenda item of a meeting it is about; nil for a note, and for a meeting as a whole.
  var item: String?
  var title: String
  var created: Date
  var modified: Date
  /// The working file, absolute; nil until there is one.
  var path: String?
  /// Of a meeting: where the files of its items are.
  var folder: String?
  /// Of a meeting: its items in the agenda's order.
  var agenda: [AgendaEntry] = []
  /// The text object that the working file was last brought together with. A meeting's item that was moved has another one.
  var textObject: String?
  var words = 0
  /// Others wrote since a client last had it open.
  var isUnread = false
  var shape = FileShape.plain
  /// When it was put away; it is removed for good some time later.
  var deletedSince: Date?
  /// The document in which the note goes on; this one is only kept for a while then.
  var successor: DocumentId?
  /// The deletion for everyone that was followed, or taken back here: it is not followed once more.
  var deletionSeen: Date?
  /// What the working file held when it was last written or read.
  var fileBase: TextBase? {
    didSet {
      guard let oldValue, fileBase != oldValue else { return }
      earlierFileBases = Array(([oldValue] + earlierFileBases).prefix(Self.mostEarlierBases))
    }
  }
  /// What it held before that, the latest first: an editor may have read it then, and say so only now.
  private(set) var earlierFileBases: [TextBase] = []
  /// What a client had, of an earlier version, which kept one for all processes.
  var earlierClientBase: TextBase?
  /// The state that this person saw when a client last had it open.
  var seen: Set<ChangeHash>?
  /// Whether a client's buffer stayed when the note was put away; the store then knows what it had.
  var hasLeftBuffers = false
}

/// A text that is not the document's now, as the document's heads and the way from that text to theirs.
struct TextBase: Hashable {
  var heads: Set<ChangeHash>
  /// Who wrote the client's changes. Those of its changes that `heads` does not cover yet, the client has all the same.
  var actor: ActorId?
  /// From the base's text to the text at `heads`, in steps. The text may have been that before any of the steps that
  /// were still on their way to the client.
  var steps: [TextDelta]
  /// The text object it is about, where that may become another one: a meeting's item that is moved gets a new text. Nil in
  /// what an earlier version stored.
  var object: String?
}

extension NoteRecord {
  static let collection = "notes"

  private static let mostEarlierBases = 4

  /// Stored apart from the notes: the process that writes the working file records what it holds, and another process that has
  /// the note open does not overwrite that with older knowledge.
  static let baseCollection = "bases"

  var key: NoteKey { NoteKey(id, item: item) }

  /// What the working file held; nil if that was another text than the note's now.
  func base(for note: NoteDocument) -> TextBase? {
    isBaseAbout(note) ? fileBase : nil
  }

  /// Whether the file base is about the note's text, and not about the one that it had before its item was moved.
  func isBaseAbout(_ note: NoteDocument) -> Bool {
    guard let object = fileBase?.object ?? textObject else { return true }
    return object == note.textObject
  }

  /// The same of another document that has all changes of this one.
  func moved(to id: DocumentId) -> NoteRecord {
    var record = NoteRecord(
      id: id, item: item, title: title, created: created, modified: modified, path: path, folder: folder)
    (record.agenda, record.textObject, record.words, record.shape) = (agenda, textObject, words, shape)
    (record.isUnread, record.deletionSeen, record.fileBase, record.seen) = (isUnread, deletionSeen, fileBase, seen)
    return record
  }

  /// Whether it has a working file, or several.
  var hasPlace: Bool { path != nil || folder != nil }

  var storageKey: StorageKey { [Self.collection] + key.names }

  /// What is stored of the record.
  var storedItem: StoredItem { StoredItem(key: storageKey, data: encoded()) }

  /// What is stored of the file base; nil if there is none.
  var baseItem: StoredItem? {
    guard let fileBase else { return nil }
    var writer = CBORWriter()
    fileBase.encode(into: &writer, earlier: earlierFileBases)
    return StoredItem(key: [Self.baseCollection] + key.names, data: Data(writer.output))
  }

  /// Takes the file base from where it lies by itself; records of an earlier version have it in them.
  mutating func takeBase(_ data: Data?) {
    guard let stored = data.flatMap({ try? CBOR($0, limits: .stored) }), var base = TextBase(stored) else { return }
    base.object = base.object ?? textObject
    fileBase = base
    earlierFileBases = (stored["earlier"]?.array ?? []).prefix(Self.mostEarlierBases).compactMap(TextBase.init)
  }

  func encoded() -> Data {
    let record = CBOR.record([
      "title": .text(title),
      "created": .integer(created.milliseconds),
      "modified": .integer(modified.milliseconds),
      "item": item.map(CBOR.text),
      "path": path.map(CBOR.text),
      "folder": folder.map(CBOR.text),
      "agenda": agenda.isEmpty ? nil : .array(agenda.map(\.cbor)),
      "object": textObject.map(CBOR.text),
      "words": .integer(words),
      "unread": .bool(isUnread),
      "shape": shape.cbor,
      "deletionSeen": deletionSeen.map { .integer($0.milliseconds) },
      "deleted": deletedSince.map { .integer($0.milliseconds) },
      "successor": successor.map { .text($0.description) },
      "seen": seen.map { .array($0.sorted().map { .bytes(Data($0.bytes)) }) },
      "left": hasLeftBuffers ? .bool(true) : nil,
    ])
    return Data(record.encoded())
  }

  /// Nil if the bytes are no record. Parts that cannot be read are left out: a missing base only means that a merge
  /// keeps everything.
  init?(id: DocumentId, _ data: Data) {
    guard case .map(let entries)? = try? CBOR(data, limits: .stored) else { return nil }
    self.init(id: id, title: "", created: Date(milliseconds: 0), modified: Date(milliseconds: 0))
    var hasTitle = false
    for entry in entries {
      guard case .text(let name) = entry.key, !entry.value.isAbsent else { continue }
      if name == "title" { hasTitle = entry.value.text != nil }
      take(entry.value, named: name)
    }
    guard hasTitle else { return nil }
  }

  private mutating func take(_ value: CBOR, named name: String) {
    switch name {
    case "title": title = value.text ?? ""
    case "created": created = Date(milliseconds: value.integer ?? 0)
    case "modified": modified = Date(milliseconds: value.integer ?? 0)
    case "item": item = value.text
    case "path": path = value.text
    case "folder": folder = value.text
    case "agenda": agenda = (value.array ?? []).compactMap(AgendaEntry.init)
    case "object": textObject = value.text
    case "words": words = value.integer ?? 0
    case "unread": isUnread = value.bool ?? false
    case "shape": shape = FileShape(value)
    case "deletionSeen": deletionSeen = value.integer.map { Date(milliseconds: $0) }
    case "deleted": deletedSince = value.integer.map { Date(milliseconds: $0) }
    case "successor": successor = value.text.flatMap { DocumentId($0) }
    case "fileBase": fileBase = TextBase(value)
    case "seen": seen = value.array.map { Set($0.compactMap { $0.bytes.flatMap { ChangeHash(bytes: Array($0)) } }) }
    case "left": hasLeftBuffers = value.bool ?? false
    case "clientBase": earlierClientBase = TextBase(value)
    default: break
    }
  }
}

extension TextBase {
  func encode(into writer: inout CBORWriter) { encode(into: &writer, earlier: []) }

  fileprivate func encode(into writer: inout CBORWriter, earlier: [TextBase]) {
    writer.map(2 + (actor == nil ? 0 : 1) + (object == nil ? 0 : 1) + (earlier.isEmpty ? 0 : 1))
    writer.text("heads")
    writer.hashes(heads)
    if let actor {
      writer.text("actor")
      writer.bytes(actor.bytes)
    }
    writer.text("steps")
    writer.array(steps.count)
    for step in steps { step.encode(into: &writer) }
    if let object {
      writer.text("object")
      writer.text(object)
    }
    if !earlier.isEmpty {
      writer.text("earlier")
      writer.array(earlier.count)
      for base in earlier { base.encode(into: &writer) }
    }
  }

  init?(_ cbor: CBOR) {
    guard let hashes = cbor["heads"].flatMap({ Set<ChangeHash>($0) }), let steps = cbor["steps"]?.array else {
      return nil
    }
    var deltas: [TextDelta] = []
    for step in steps {
      guard let delta = TextDelta(step) else { return nil }
      deltas.append(delta)
    }
    (self.heads, self.steps, object) = (hashes, deltas, cbor["object"]?.text)
    actor = cbor["actor"]?.bytes.flatMap { ActorId(data: $0) }
  }
}

extension Set<ChangeHash> {
  /// Nil if it is no list of hashes.
  init?(_ cbor: CBOR) {
    guard let items = cbor.array else { return nil }
    let hashes = items.compactMap { $0.bytes.flatMap { ChangeHash(bytes: Array($0)) } }
    guard hashes.count == items.count else { return nil }
    self.init(hashes)
  }
}

extension TextDelta {
  /// A number is retained bytes; `["+", bytes]` came, `["-", bytes]` went.
  fileprivate func encode(into writer: inout CBORWriter) {
    writer.array(segments.count)
    for segment in segments {
      switch segment {
      case .retain(let count): writer.integer(count)
      case .insert(let piece): Self.encode("+", piece, into: &writer)
      case .delete(let piece): Self.encode("-", piece, into: &writer)
      }
    }
  }

  private static func encode(_ sign: String, _ piece: TextPiece, into writer: inout CBORWriter) {
    writer.array(2)
    writer.text(sign)
    writer.bytes(Array(piece.bytes))
  }

  fileprivate init?(_ cbor: CBOR) {
    guard let items = cbor.array else { return nil }
    var builder = Builder()
    for item in items {
      if let count = item.integer {
        builder.retain(count)
        continue
      }
      guard let pair = item.array, pair.count == 2, let bytes = pair[1].bytes else { return nil }
      switch pair[0].text {
      case "+": builder.insert(TextPiece(Array(bytes)))
      case "-": builder.delete(TextPiece(Array(bytes)))
      default: return nil
      }
    }
    self = builder.delta
  }
}

extension FileShape {
  fileprivate var cbor: CBOR {
    .record([
      "carriageReturns": .bool(hasCarriageReturns), "byteOrderMark": .bool(hasByteOrderMark),
      "noFinalNewline": .bool(lacksFinalNewline),
    ])
  }

  fileprivate init(_ cbor: CBOR) {
    self.init(
      hasCarriageReturns: cbor["carriageReturns"]?.bool ?? false,
      hasByteOrderMark: cbor["byteOrderMark"]?.bool ?? false,
      lacksFinalNewline: cbor["noFinalNewline"]?.bool ?? false)
  }
}

extension Date {
  /// Since 1970, rounded; within the years 1 to 9999, which calendars have. Peers may claim any time.
  var milliseconds: Int {
    let (first, last) = (-62_135_596_800_000.0, 253_402_300_799_000.0)
    return Int(min(last, max(first, (timeIntervalSince1970 * 1000).rounded())))
  }

  init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
