/// What an editor's client said about itself in `initialize`.
struct ClientCapabilities {
  /// Its unit for columns.
  var encoding = PositionEncoding.utf16
  /// Whether it speaks the notes extension; false for a plain LSP client.
  var speaksNotes = false
  /// Whether a plain client wants other people's changes.
  var takesEdits = false
  /// Whether it requests inlay hints again on `workspace/inlayHint/refresh`.
  var refreshesHints = false
  /// Whether it supports `window/showDocument`.
  var showsDocuments = false
  /// Whether it shows work-done progress.
  var showsProgress = false
  /// Whether its changes may overtake one another: Helix 25.01 sends each from a task of its own.
  var reordersChanges = false

  var gate: OpenBuffer.Gate { speaksNotes ? .notes : .plain }
}

extension PositionEncoding {
  /// The first known encoding in the client's list; UTF-16 without a list, as in LSP.
  init(offered: [String]?) {
    self = offered?.lazy.compactMap(PositionEncoding.init(rawValue:)).first ?? .utf16
  }
}
