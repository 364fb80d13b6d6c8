import AutomergeRepo

/// What the record of a meeting says of one item, so that lists have all of them in order, whether or not there is a file yet.
struct AgendaEntry: Hashable {
  /// As `MeetingDocument.Item.id`.
  var id: String
  var title: String

  var cbor: CBOR { .array([.text(id), .text(title)]) }

  init(id: String, title: String) { (self.id, self.title) = (id, title) }

  /// Nil if it is none.
  init?(_ cbor: CBOR) {
    guard let pair = cbor.array, pair.count == 2, let id = pair[0].text, let title = pair[1].text else { return nil }
    self.init(id: id, title: title)
  }
}
