/// What can be read from a document's log and graph, and is worth keeping once it was asked for. Each is updated on demand.
final class DocumentLookups {
  /// Where objects stand.
  var parents = ObjectParents()
  /// Which change an operation is of.
  var changeLookup = ChangeLookup()
  var undoHistory = UndoHistory()
}
