import AutomergeRepo
import Foundation

/// A text as it was before parts of it were replaced, perhaps by mistake.
struct RecoveredText {
  static let collection = "recovered"

  var id: DocumentId
  /// Milliseconds since 1970.
  var time: Int
  var reason: String
  var text: [UInt8]

  init(id: DocumentId, time: Int, reason: String, text: [UInt8]) {
    (self.id, self.time, self.reason, self.text) = (id, time, reason, text)
  }

  var item: StoredItem {
    StoredItem(
      key: [Self.collection, id.description, String(time)],
      data: Data(CBOR.record(["reason": .text(reason), "text": .bytes(Data(text))]).encoded()))
  }

  /// Nil if the bytes are not a recovered text. An earlier version stored only the text.
  init?(_ item: StoredItem) {
    guard item.key.count == 3, let id = DocumentId(item.key[1]), let time = Int(item.key[2]) else { return nil }
    let record = try? CBOR(item.data, limits: .stored)
    let text = record?["text"]?.bytes ?? item.data
    self.init(
      id: id, time: time, reason: record?["reason"]?.text ?? "the editor's full text replaced it", text: Array(text))
  }

  /// In a folder that lists of notes do not show.
  static func path(title: String, time: Int, in directory: String) -> String {
    let date = Date(milliseconds: time).ISO8601Format().replacingOccurrences(of: ":", with: ".")
    // A long title gives way to the time: without it, two texts would have one file.
    let ending = " \(date) \(time % 1000)" + FileName.fileExtension
    let name = FileName.name(forTitle: String(title.prefix(120)), ending: ending)
    return directory + "/.recovered/" + name
  }
}
