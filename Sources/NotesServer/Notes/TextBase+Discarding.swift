import Automerge

/// Keeps bases valid when the document returns to an earlier state.
extension TextBase {
  /// The same text, based on the state that the document is about to return to. Nil if the document does not know this
  /// base's heads.
  func rebased(to heads: Set<ChangeHash>, in note: NoteDocument) -> TextBase? {
    let document = note.document
    guard self.heads != heads else { return self }
    guard document.unknown(self.heads).isEmpty,
      let toNow = try? document.textEdits(obj: note.content, since: self.heads),
      let fromThere = try? document.textEdits(obj: note.content, since: heads)
    else { return nil }
    let way = TextDelta(toNow).composed(with: TextDelta(fromThere).inverted)
    return TextBase(heads: heads, actor: actor, steps: steps + [way], object: object)
  }

  /// The texts of which the client or file had one, the latest one first. None if the document lacks changes of this base.
  func texts(of note: NoteDocument) -> [[UInt8]] {
    guard note.document.unknown(heads).isEmpty,
      let edits = try? note.document.textEdits(obj: note.content, since: heads)
    else { return [] }
    let now = DocumentText(note)
    var toNow = TextDelta(edits)
    var texts = [TextView(of: now, through: toNow.inverted).allUTF8]
    for step in steps.reversed() {
      toNow = step.composed(with: toNow)
      texts.append(TextView(of: now, through: toNow.inverted).allUTF8)
    }
    return texts
  }

  /// The content of a file that was written some time ago with the note's text at `heads`. The document may have
  /// returned to an earlier state meanwhile.
  ///
  /// - Parameter step: the delta from the file's text to the note's
  init(writing text: [UInt8], _ step: TextDelta, at heads: Set<ChangeHash>, of note: NoteDocument) {
    guard !note.document.unknown(heads).isEmpty else {
      self.init(heads: heads, steps: [step], object: note.textObject)
      return
    }
    let way = TextDiff.delta(from: text, to: DocumentText(note).allUTF8)
    self.init(heads: note.document.heads(), steps: [step, way], object: note.textObject)
  }
}
