import Automerge
import AutomergeRepo
import JSONRPC

/// `textDocument/didOpen`: the editor shows a file, or has read it again.
struct DidOpenNotification: EditorNotification {
  static let method = "textDocument/didOpen"

  private static let maximumMemories = 8

  let uri: String
  let version: Int
  let text: [UInt8]
  /// Given if the buffer has outlived a service.
  let reattachment: Reattachment?
  /// The id of the note that the client believes the file to be.
  let note: String?

  init(_ params: Parameters) throws(ResponseError) {
    let document = try params.object("textDocument")
    uri = try document.string("uri")
    version = try document.intIfPresent("version") ?? 0
    text = Array(try document.string("text").utf8)
    let notes = try params.objectIfPresent("notes")
    let known = Reattachment(
      run: try notes?.stringIfPresent("run"), memories: try Self.memories(notes),
      opened: try notes?.stringIfPresent("opened").map { Array($0.utf8) })
    reattachment = try notes?.boolIfPresent("reattach") ?? false ? known : nil
    note = try notes?.stringIfPresent("id")
  }

  func handle(for editor: Editor) {
    let text = editor.client.speaksNotes ? text : LineEnds.unified(text)
    editor.buffers.open(uri, PlainBuffer(version: version, text: text), reattachment, asNote: note)
  }

  /// What an editor that has outlived services remembers of them, the last one first.
  private static func memories(_ notes: Parameters?) throws(ResponseError) -> [KilledJournals.Memory] {
    var memories: [KilledJournals.Memory] = []
    for had in try notes?.arrayIfPresent("had")?.prefix(maximumMemories) ?? [] {
      let run = try had.string("run")
      let memory = KilledJournals.Memory(run: run, opened: try had.int("version"), rev: try had.int("rev"))
      // A run names files, so it must be a valid actor id.
      if ActorId(hexadecimal: run)?.hexadecimal == run { memories.append(memory) }
    }
    return memories
  }
}
