/// Collects what changes of others do to texts, joining what adjoins.
struct TextEditCollector {
  private(set) var edits: [TextEdit] = []

  mutating func replace(
    _ object: ObjId, at offset: Int, deleted: some Collection<UInt8>, inserted: some Collection<UInt8>
  ) {
    if deleted.isEmpty, inserted.isEmpty { return }
    guard var last = edits.last, last.object == object else {
      append(object, offset, deleted, inserted)
      return
    }
    let end = last.utf8Offset + last.inserted.count
    if offset == end {
      last.deleted += deleted
      last.inserted += inserted
    } else if offset + deleted.count == last.utf8Offset, last.inserted.isEmpty || inserted.isEmpty {
      last.utf8Offset = offset
      last.deleted.insert(contentsOf: deleted, at: 0)
      last.inserted.insert(contentsOf: inserted, at: 0)
    } else {
      append(object, offset, deleted, inserted)
      return
    }
    edits[edits.count - 1] = last
  }

  private mutating func append(
    _ object: ObjId, _ offset: Int, _ deleted: some Collection<UInt8>, _ inserted: some Collection<UInt8>
  ) {
    edits.append(
      TextEdit(object: object, utf8Offset: offset, deleted: Array(deleted), inserted: Array(inserted)))
  }
}
