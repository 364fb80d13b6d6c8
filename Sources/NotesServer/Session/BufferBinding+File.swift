import Automerge
import AutomergeRepo

/// The working file: what the editor writes to it, and what other programs do to it.
extension BufferBinding {
  /// The editor says that the working file contains its text now.
  func didSave() {
    file[mergedIn: self] = nil
    countWords()
    file.wrote(clientTextBase, isOnlyOrigin: buffer.gate == .plain && buffer.awaitsFullText)
    handle.storeSoon()
    service.documentFiles.saved(handle)
  }

  /// Call when the editor wrote an earlier state of its text while no service was running.
  ///
  /// - Parameter way: the delta from what it wrote to what it has
  func wroteEarlier(_ way: TextDelta) {
    var base = clientTextBase
    base.steps = [way.composed(with: base.steps.first ?? .identity)] + base.steps.dropFirst()
    file.wrote(base)
  }

  /// Applies to the note what another program did to the working file.
  func takeIn(_ splices: [TextSplice], of note: NoteDocument) throws {
    let before = handle.document.heads()
    try handle.change { _ in try note.make(splices) }
    othersChanged(try note.document.textEdits(obj: note.content, since: before), cause: .reload)
    editor.buffers.changed(note, of: handle, since: before, by: self, cause: .reload)
  }

  /// Tells the editor that the note has everything that the working file contains, so that it may overwrite the file
  /// without asking.
  ///
  /// - Parameter digest: of the file's bytes, in hexadecimal.
  func fileIsKnown(_ digest: String) {
    guard buffer.gate == .notes else { return }
    editor.notify(FileKnownNotification(uri: uri, digest: digest))
  }

  /// Whether a plain client's changes merely show that it has read its file again. Then its buffer is treated as newly opened.
  func hasReadFile(version: Int, changes: [ContentChange]) -> Bool {
    guard buffer.gate == .plain, !buffer.isOvertaken(version), let merged = file[mergedIn: self],
      let base = service.notebook[key]?.base(for: note)
    else {
      return false
    }
    let lacking = buffer.clientToDocument
    var client = PlainBuffer(version: version, text: TextView(of: source, through: lacking.inverted).allUTF8)
    client.apply(changes, version: version, in: buffer.encoding)
    guard client.text == merged else { return false }
    file[mergedIn: self] = nil
    let merge = ThreeWayMerge(note: note, bases: [base], encoding: buffer.encoding, gate: .plain)
    var (opened, splices) = merge.open(version: version, text: client.text)
    // The answer to the last edit may still come.
    opened.lastSentRev = buffer.lastSentRev
    buffer = opened
    apply(splices)
    updates.sendEdit()
    return true
  }
}
