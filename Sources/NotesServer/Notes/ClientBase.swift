import Automerge
import AutomergeRepo
import Foundation

/// What the buffer of one process's editor contained: the exact text is known once the editor names the last edit that
/// it applied. Each process stores its own, because editors of several processes may have one note open.
struct ClientBase: Hashable {
  static let collection = "clients"
  /// The key under which it is stored once the note was deleted while the client's buffer stayed.
  static let leftCollection = "left"

  /// The editor's text before any of the steps. The steps are the edits on their way to the editor, oldest first, and
  /// finally what was not sent yet.
  var base: TextBase
  var time: Date
  /// The version in `didOpen`, because edits are numbered from the beginning after a reload or a restart.
  var opened: Int?
  /// The last edit that the editor has certainly applied, and then those on their way, oldest first.
  var acknowledged = 0
  var revs: [Int] = []
  /// The edits sent since, each with the document's heads that it leads to.
  var sent: [Sent] = []
  /// The text object of the base, if another one may replace it.
  var object: String?

  struct Sent: Hashable {
    var rev: Int
    var heads: Set<ChangeHash>
  }

  /// How many of the last edits are remembered: an editor acknowledges what it applies.
  static let maximumSent = 256

  mutating func sent(_ rev: Int, _ heads: Set<ChangeHash>) {
    sent.append(Sent(rev: rev, heads: heads))
    if sent.count > Self.maximumSent { sent.removeFirst() }
  }

  /// The text of an editor that has applied `rev` and nothing after it; nil if unknown.
  func text(afterEdit rev: Int) -> TextBase? {
    if let found = sent.last(where: { $0.rev == rev }) { return TextBase(heads: found.heads, steps: []) }
    if rev == acknowledged { return TextBase(heads: base.heads, steps: base.steps) }
    guard let index = revs.firstIndex(of: rev) else { return nil }
    return TextBase(heads: base.heads, steps: Array(base.steps[(index + 1)...]))
  }

  /// What the editor may have had: the recorded text, or what the last edits that were sent since have made of it.
  var texts: [TextBase] {
    let later = sent.suffix(Self.maximumTexts).reversed().map { TextBase(heads: $0.heads, steps: []) }
    return ([base] + later).map { text in
      var text = text
      text.object = object
      return text
    }
  }

  private static let maximumTexts = 4

  /// Whether the same process has recorded `other` of the same buffer after this.
  func isEarlier(than other: ClientBase, in document: Document) -> Bool {
    let (heads, others) = (lastHeads, other.lastHeads)
    guard document.unknown(heads.union(others)).isEmpty else { return false }
    // Edits are numbered anew when the buffer is opened again.
    guard heads != others else { return opened == other.opened && lastRev < other.lastRev }
    return !others.isDisjoint(with: document.changes(since: heads).map(\.hash))
  }

  private var lastHeads: Set<ChangeHash> { sent.last?.heads ?? base.heads }
  private var lastRev: Int { sent.last?.rev ?? revs.last ?? acknowledged }
}

extension ClientBase {
  /// - Parameter run: the process's name.
  static func key(_ note: NoteKey, run: String) -> StorageKey { [collection] + note.names + [run] }

  func item(_ note: NoteKey, run: String) -> StoredItem {
    StoredItem(key: Self.key(note, run: run), data: encoded)
  }

  /// The texts of a working file that are stored beside the text of the run's editor.
  enum FileText: String, CaseIterable {
    /// The text that the editor of a killed run reported as written.
    case written = "-written"
    /// The text that the buffer was opened with, while the file is being examined.
    case opened = "-opened"
  }

  static func key(_ note: NoteKey, run: String, _ text: FileText) -> StorageKey { key(note, run: run + text.rawValue) }

  func item(_ note: NoteKey, run: String, _ text: FileText) -> StoredItem { item(note, run: run + text.rawValue) }

  /// Whether a key is that of a `FileText`.
  static func isOfFile(_ key: StorageKey) -> Bool {
    FileText.allCases.contains { key.last?.hasSuffix($0.rawValue) ?? false }
  }

  func leftItem(_ note: NoteKey, run: String) -> StoredItem {
    StoredItem(key: [Self.leftCollection] + note.names + [run], data: encoded)
  }

  private var encoded: Data {
    var writer = CBORWriter()
    encode(into: &writer)
    return Data(writer.output)
  }

  func encode(into writer: inout CBORWriter) {
    writer.map(4 + (opened == nil ? 0 : 1) + (sent.isEmpty ? 0 : 1) + (object == nil ? 0 : 1))
    writer.text("base")
    base.encode(into: &writer)
    writer.text("time")
    writer.integer(time.milliseconds)
    if let opened {
      writer.text("opened")
      writer.integer(opened)
    }
    writer.text("rev")
    writer.integer(acknowledged)
    writer.text("revs")
    writer.array(revs.count)
    for rev in revs { writer.integer(rev) }
    if !sent.isEmpty {
      writer.text("sent")
      writer.array(sent.count)
      for sent in sent {
        writer.array(2)
        writer.integer(sent.rev)
        writer.hashes(sent.heads)
      }
    }
    if let object {
      writer.text("object")
      writer.text(object)
    }
  }

  /// Nil if the bytes are not a client base.
  init?(_ record: CBOR) {
    guard let base = record["base"].flatMap(TextBase.init) else { return nil }
    self.init(base: base, time: Date(milliseconds: record["time"]?.integer ?? 0))
    opened = record["opened"]?.integer
    acknowledged = record["rev"]?.integer ?? 0
    let revs = record["revs"]?.array?.compactMap(\.integer) ?? []
    if revs.count < base.steps.count { self.revs = revs }
    for entry in record["sent"]?.array ?? [] {
      guard let pair = entry.array, pair.count == 2, let rev = pair[0].integer, let heads = Set<ChangeHash>(pair[1])
      else { continue }
      sent.append(Sent(rev: rev, heads: heads))
    }
    object = record["object"]?.text
  }

  init?(_ data: Data) {
    guard let record = try? CBOR(data, limits: .stored) else { return nil }
    self.init(record)
  }
}
