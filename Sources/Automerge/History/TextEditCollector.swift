/// Collects the edits that changes of others make to texts, joining adjacent ones.
///
/// An edit that begins where the one before it ends comes after what that one deleted. Thus edits tell whether new text
/// is before or after the deleted text, which decides where text goes that a third person typed there meanwhile.
struct TextEditCollector {
  private(set) var edits: [TextEdit] = []

  /// - Parameter followsDeleted: whether an insertion comes after a deleted element
  mutating func replace(
    _ object: ObjId, at offset: Int, deleted: some Collection<UInt8>, inserted: some Collection<UInt8>,
    followsDeleted: @autoclosure () -> Bool = false
  ) {
    if deleted.isEmpty, inserted.isEmpty { return }
    let last = edits.count - 1
    guard last >= 0, edits[last].object == object else {
      append(object, offset, deleted, inserted)
      return
    }
    // Changed in place, because a copy would make every keystroke of a long stretch cost the whole stretch.
    if offset == edits[last].utf8Offset + edits[last].inserted.count {
      if !inserted.isEmpty, !edits[last].deleted.isEmpty, followsDeleted() {
        append(object, offset, deleted, inserted)
      } else {
        edits[last].deleted += deleted
        edits[last].inserted += inserted
      }
    } else if offset + deleted.count == edits[last].utf8Offset, edits[last].inserted.isEmpty || deleted.isEmpty {
      edits[last].utf8Offset = offset
      edits[last].deleted.insert(contentsOf: deleted, at: 0)
      edits[last].inserted.insert(contentsOf: inserted, at: 0)
    } else {
      append(object, offset, deleted, inserted)
    }
  }

  private mutating func append(
    _ object: ObjId, _ offset: Int, _ deleted: some Collection<UInt8>, _ inserted: some Collection<UInt8>
  ) {
    edits.append(
      TextEdit(object: object, utf8Offset: offset, deleted: Array(deleted), inserted: Array(inserted)))
  }
}
