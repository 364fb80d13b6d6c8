import AutomergeRepo

/// One item in a meeting's record, so that lists show all items in order, with or without a file.
struct AgendaEntry: Hashable {
  /// The same as `MeetingDocument.Item.id`.
  var id: String
  var title: String

  var cbor: CBOR { .array([.text(id), .text(title)]) }

  init(id: String, title: String) { (self.id, self.title) = (id, title) }

  /// Nil if the record is not an entry.
  init?(_ cbor: CBOR) {
    guard let pair = cbor.array, pair.count == 2, let id = pair[0].text, let title = pair[1].text else { return nil }
    self.init(id: id, title: title)
  }
}
