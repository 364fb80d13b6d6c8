import AutomergeRepo
import Foundation

/// A text as it was before parts of it were replaced, perhaps by mistake.
struct RecoveredText {
  static let collection = "recovered"
  static let untold = "untold"

  /// What distinguishes a text from the others of its document.
  struct Stamp: Hashable {
    /// Milliseconds since 1970. Each process gives out a time once.
    var time: Int
    /// The process that kept the text. Two may do so at one moment, or at one time by a clock that was set back. Empty if an
    /// earlier version kept it.
    var run = ""

    var date: Date { Date(milliseconds: time) }

    init(time: Int, run: String = "") { (self.time, self.run) = (time, run) }

    init?(_ text: String) {
      let parts = text.split(separator: ".", maxSplits: 1)
      guard let first = parts.first, let time = Int(first) else { return nil }
      self.init(time: time, run: parts.count > 1 ? String(parts[1]) : "")
    }

    var description: String { run.isEmpty ? String(time) : "\(time).\(run)" }
  }

  var id: DocumentId
  /// The title of the agenda item that the text belongs to, which the document may have no more; nil for a note's, which has its
  /// present title, and if an earlier version kept the text.
  var itemTitle: String?
  var stamp: Stamp
  var reason: String
  var text: [UInt8]

  init(id: DocumentId, itemTitle: String? = nil, stamp: Stamp, reason: String, text: [UInt8]) {
    (self.id, self.itemTitle, self.stamp, self.reason, self.text) = (id, itemTitle, stamp, reason, text)
  }

  /// The text of a buffer that was closed while its note was being opened, by a process that was killed then.
  init(_ left: JournalFrame.Client.LeftText, of id: DocumentId, by run: String) {
    self.init(
      id: id, stamp: Stamp(time: left.time, run: RunJournal.shortName(run)),
      reason: "it was closed before it was merged", text: left.text)
  }

  /// The text of another program that a process wrote over, and was killed before it had merged it.
  init(overwritten text: JournalFrame.Client.LeftText, of id: DocumentId, by run: String) {
    self.init(
      id: id, stamp: Stamp(time: text.time, run: RunJournal.shortName(run)), reason: Self.overwritten, text: text.text)
  }

  static let overwritten = "another program wrote it to the file"

  var item: StoredItem {
    StoredItem(
      key: [Self.collection, id.description, stamp.description],
      data: Data(
        CBOR.record(["title": itemTitle.map(CBOR.text), "reason": .text(reason), "text": .bytes(Data(text))])
          .encoded()))
  }

  /// The title for the person.
  @AutomergeRepo
  func title(in notebook: Notebook) -> String { itemTitle ?? notebook[id]?.title ?? id.description }

  /// The key of what is stored until the person is told of the text.
  var mark: StorageKey { [Self.untold, id.description, stamp.description] }

  /// Stores the text, of which the person is to be told.
  var changes: [StorageChange] { [.save(item), .save(StoredItem(key: mark, data: Data([1])))] }

  /// Nil if the bytes are not a recovered text. An earlier version stored only the text.
  init?(_ item: StoredItem) {
    guard item.key.count == 3, let id = DocumentId(item.key[1]), let stamp = Stamp(item.key[2]) else { return nil }
    let record = try? CBOR(item.data, limits: .stored)
    let text = record?["text"]?.bytes ?? item.data
    self.init(
      id: id, itemTitle: record?["title"]?.text, stamp: stamp,
      reason: record?["reason"]?.text ?? "the editor's full text replaced it", text: Array(text))
  }

  /// In a folder that lists of notes do not show.
  static func path(title: String, stamp: Stamp, in directory: String) -> String {
    let date = stamp.date.ISO8601Format().replacingOccurrences(of: ":", with: ".")
    // A long title gives way to the stamp: without it, two texts would have one file.
    let run = FileName.name(forTitle: stamp.run, ending: "")
    let ending = " \(date) \(stamp.time % 1000)" + (stamp.run.isEmpty ? "" : " \(run)") + FileName.fileExtension
    let name = FileName.name(forTitle: String(title.prefix(120)), ending: ending)
    return directory + "/.recovered/" + name
  }
}
