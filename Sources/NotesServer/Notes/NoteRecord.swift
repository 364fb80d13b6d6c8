import Automerge
import AutomergeRepo
import Foundation

/// What the store keeps about a note besides its document.
struct NoteRecord: Hashable {
  let id: DocumentId
  /// The agenda item of a meeting that it belongs to; nil for a note, and for a meeting as a whole.
  var item: String?
  var title: String
  var created: Date
  var modified: Date
  /// The working file's absolute path; nil until there is one.
  var path: String?
  /// For a meeting: the folder with its items' files.
  var folder: String?
  /// For a meeting: its items in the agenda's order.
  var agenda: [AgendaEntry] = []
  /// The agenda as this person last saw it in a list; nil if never.
  var agendaSeen: [AgendaEntry]?
  /// The files elsewhere that contain the whole document and are kept equal to it, the one opened last first; absolute
  /// paths.
  var documentFiles: [String] = []
  /// The text object last synchronized with the working file. A meeting's item that was moved has another one.
  var textObject: String?
  var words = 0
  /// Whether other people have written in it since a client last had it open.
  var isUnread = false
  var shape = FileShape.plain
  /// Whether the working file may lack what the note has: the process that had it open has ended without writing it.
  var isFileOutdated = false
  /// Whether an editor may still show an outdated file: only its service has ended.
  var isFileShown = false
  /// When the note was deleted; it is removed permanently some time later.
  var deletedSince: Date?
  /// The document that continues the note; the store then keeps this one only for a while.
  var successor: DocumentId?
  /// The deletion for everyone that was followed, or undone here, and is not followed again.
  var deletionSeen: Date?
  /// What the working file contained when it was last written or read.
  var fileBase: TextBase? {
    didSet {
      guard let oldValue, fileBase != oldValue else { return }
      // A large base only says how the file was about to be rewritten. The one before it says what the file contained
      // then.
      earlierFileBases = Self.kept([oldValue] + earlierFileBases)
    }
  }
  /// What the file contained before, latest first: an editor may have read it then, and report it only now.
  private(set) var earlierFileBases: [TextBase] = []
  /// What the file contains, and then what it contained before, latest first.
  var fileBases: [TextBase] { (fileBase.map { [$0] } ?? []) + earlierFileBases }
  /// What a client had; written by an earlier version, which stored one for all processes.
  var earlierClientBase: TextBase?
  /// The heads that this person saw when a client last had it open.
  var seen: Set<ChangeHash>?
  /// Whether a client's buffer stayed when the note was deleted; the store then has what it contained.
  var hasLeftBuffers = false
  /// The file of a deleted note that a buffer may still show. A restored note gets it back, and so that buffer is the note again,
  /// even if the file did not have the name of the note's title.
  var leftPath: String?
}

/// A text that may differ from the document's: the document's heads, and the delta from that text to the text at these heads.
struct TextBase: Hashable {
  var heads: Set<ChangeHash>
  /// The author of the client's changes. The client also has those of its changes that `heads` does not cover yet.
  var actor: ActorId?
  /// The deltas from the base's text to the text at `heads`. While some of them were on their way to the client, its text may
  /// have been that before any of these.
  var steps: [TextDelta]
  /// The base's text object, if another one may replace it: a meeting's item that is moved gets a new text. Nil in
  /// records of an earlier version.
  var object: String?

  /// The same with the changes of the client of this run, if it has opened the note.
  func withChanges(of run: String?) -> TextBase {
    var base = self
    base.actor = run.flatMap { ActorId(hexadecimal: $0) }
    return base
  }
}

extension NoteRecord {
  static let collection = "notes"

  /// How long a deleted note can be restored. Source: EditorProtocol.md.
  static let recoverableTime: TimeInterval = 30 * 24 * 60 * 60

  /// Each write of the file leaves two: one that says how the file is about to be rewritten, and one that says that it was. While
  /// others type, this process writes a file about five times a second, and another one needs a few seconds to start and to report
  /// what its editor read.
  private static let maximumEarlierBases = 32
  /// How large the earlier bases may be together: they stay in memory, and are written again with the record.
  private static let maximumBytesOfEarlierBases = 256 << 10

  /// Drops the oldest bases beyond the bounds, and each that is too large itself.
  private static func kept(_ bases: [TextBase]) -> [TextBase] {
    var left = maximumBytesOfEarlierBases
    let small = bases.filter { $0.textByteCount <= maximumBytesOfEarlierBases }.prefix(maximumEarlierBases)
    return Array(
      small.prefix { base in
        left -= base.textByteCount
        return left >= 0
      })
  }

  /// Stored separately from the notes: the process that writes the working file records its content, and another
  /// process that has the note open does not overwrite that with older knowledge.
  static let baseCollection = "bases"

  var key: NoteKey { NoteKey(id, item: item) }

  /// What the working file contained; nil if the note now has another text object.
  func base(for note: NoteDocument) -> TextBase? {
    isBaseAbout(note) ? fileBase : nil
  }

  /// Whether the file base belongs to the note's present text object, and not to the one that it had before its item
  /// was moved.
  func isBaseAbout(_ note: NoteDocument) -> Bool {
    guard let object = fileBase?.object ?? textObject else { return true }
    return object == note.textObject
  }

  /// The same for another document that has all changes of this one.
  func moved(to id: DocumentId) -> NoteRecord {
    var record = NoteRecord(
      id: id, item: item, title: title, created: created, modified: modified, path: path, folder: folder)
    (record.agenda, record.textObject, record.words, record.shape) = (agenda, textObject, words, shape)
    (record.documentFiles, record.agendaSeen) = (documentFiles, agendaSeen)
    (record.isFileOutdated, record.isFileShown) = (isFileOutdated, isFileShown)
    (record.isUnread, record.deletionSeen, record.fileBase, record.seen) = (isUnread, deletionSeen, fileBase, seen)
    return record
  }

  private static let maximumDocumentFiles = 8

  mutating func addDocumentFile(_ path: String) {
    documentFiles = Array(([path] + documentFiles.filter { $0 != path }).prefix(Self.maximumDocumentFiles))
  }

  /// Whether the note has one or more working files.
  var hasPlace: Bool { path != nil || folder != nil }

  var storageKey: StorageKey { [Self.collection] + key.names }

  /// The file base as stored; nil if there is none.
  var baseItem: StoredItem? {
    guard let fileBase else { return nil }
    var writer = CBORWriter()
    fileBase.encode(into: &writer, earlier: earlierFileBases)
    return StoredItem(key: [Self.baseCollection] + key.names, data: Data(writer.output))
  }

  /// Sets the file base from its separate place; an earlier version stored it in the record.
  mutating func takeBase(_ data: Data?) {
    guard let stored = data.flatMap({ try? CBOR($0, limits: .stored) }), var base = TextBase(stored) else { return }
    base.object = base.object ?? textObject
    fileBase = base
    earlierFileBases = Self.kept((stored["earlier"]?.array ?? []).compactMap(TextBase.init))
  }

  mutating func takeBase(of other: NoteRecord) {
    (fileBase, earlierFileBases) = (other.fileBase, other.earlierFileBases)
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
      "agendaSeen": agendaSeen.map { .array($0.map(\.cbor)) },
      "documentFiles": documentFiles.isEmpty ? nil : .array(documentFiles.map(CBOR.text)),
      "object": textObject.map(CBOR.text),
      "words": .integer(words),
      "unread": .bool(isUnread),
      "shape": shape.cbor,
      "outdated": isFileOutdated ? .bool(true) : nil,
      "shown": isFileShown ? .bool(true) : nil,
      "deletionSeen": deletionSeen.map { .integer($0.milliseconds) },
      "deleted": deletedSince.map { .integer($0.milliseconds) },
      "successor": successor.map { .text($0.description) },
      "seen": seen.map { .array($0.sorted().map { .bytes(Data($0.bytes)) }) },
      "left": hasLeftBuffers ? .bool(true) : nil,
      "leftPath": leftPath.map(CBOR.text),
    ])
    return Data(record.encoded())
  }

  /// Nil if the bytes are not a record. Unreadable parts are dropped: without a base, a merge only keeps everything.
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
    case "agendaSeen": agendaSeen = value.array.map { $0.compactMap(AgendaEntry.init) }
    case "documentFiles": documentFiles = (value.array ?? []).prefix(Self.maximumDocumentFiles).compactMap(\.text)
    case "object": textObject = value.text
    case "words": words = value.integer ?? 0
    case "unread": isUnread = value.bool ?? false
    case "shape": shape = FileShape(value)
    case "outdated": isFileOutdated = value.bool ?? false
    case "shown": isFileShown = value.bool ?? false
    case "deletionSeen": deletionSeen = value.integer.map { Date(milliseconds: $0) }
    case "deleted": deletedSince = value.integer.map { Date(milliseconds: $0) }
    case "successor": successor = value.text.flatMap { DocumentId($0) }
    case "fileBase": fileBase = TextBase(value)
    case "seen": seen = value.array.map { Set($0.compactMap { $0.bytes.flatMap { ChangeHash(bytes: Array($0)) } }) }
    case "leftPath": leftPath = value.text
    case "left": hasLeftBuffers = value.bool ?? false
    case "clientBase": earlierClientBase = TextBase(value)
    default: break
    }
  }
}

extension TextBase {
  /// How many bytes of text its deltas contain.
  var textByteCount: Int {
    steps.flatMap(\.segments).reduce(0) { count, segment in
      switch segment {
      case .retain: count
      case .insert(let piece), .delete(let piece): count + piece.count
      }
    }
  }

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
  /// Nil if the bytes are not a list of hashes.
  init?(_ cbor: CBOR) {
    guard let items = cbor.array else { return nil }
    let hashes = items.compactMap { $0.bytes.flatMap { ChangeHash(bytes: Array($0)) } }
    guard hashes.count == items.count else { return nil }
    self.init(hashes)
  }
}

extension TextDelta {
  /// A number counts retained bytes; `["+", bytes]` was inserted, `["-", bytes]` deleted.
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
    var builder = DeltaBuilder()
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
  /// Since 1970, rounded, and clamped to the years 1 to 9999 of the calendar. Peers may claim any time.
  var milliseconds: Int {
    let (first, last) = (-62_135_596_800_000.0, 253_402_300_799_000.0)
    return Int(min(last, max(first, (timeIntervalSince1970 * 1000).rounded())))
  }

  init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
