/// What can be derived from a document's log and graph, and is worth keeping once it was needed. Each part is updated
/// on demand.
final class DocumentLookups {
  /// The parents of objects.
  var parents = ObjectParents()
  /// The changes of operations.
  var changeLookup = ChangeLookup()
  var undoHistory = UndoHistory()
}
