import AutomergeRepo
import JSONRPC

/// Tells a person who opens a note what others have written since the note was last closed here.
@AutomergeRepo
struct Absence {
  /// The size above which texts are not compared unasked.
  private static let maximumBytes = 1 << 20
  /// How long signatures may take to follow what they are about.
  private static let signatureTime: Duration = .seconds(1)

  let binding: BufferBinding

  /// Call before the note counts as read. The difference is computed later, so that opening does not wait for it.
  func tellSoon() {
    let (service, editor, key) = (binding.service, binding.editor, binding.key)
    guard let record = service.notebook[key], record.isUnread, record.seen != nil, editor.client.speaksNotes,
      binding.source.measure.utf8 <= Self.maximumBytes
    else { return }
    Task { @AutomergeRepo [uri = binding.uri] in
      await AutomergeRepo.yield()
      guard var diff = try? await DiffRequest(of: key).perform(for: editor) else { return }
      if diff.hunks.contains(where: { !$0.isVerified }), await service.clock.pause(for: Self.signatureTime) {
        diff = (try? await DiffRequest(of: key).perform(for: editor)) ?? diff
      }
      guard !diff.hunks.isEmpty else { return }
      let count = diff.hunks.reduce(0) { $0 + max(lines(of: $1.old), lines(of: $1.new)) }
      var authors: [String] = []
      for author in diff.hunks.compactMap(\.author) where !authors.contains(author) { authors.append(author) }
      let who = authors.isEmpty ? "Others" : NoteNews.cut(NotesScreen.names(authors), to: 20)
      let message = "\(who) changed \(NotesScreen.counted(count, "line")) while you were away"
      editor.deliver([
        "kind": "away", "uri": .string(uri), "id": .string(key.document.description), "message": .string(message),
        "line": .string(EventLine.text(message, then: ":NotesDiff")),
      ])
    }
  }

  private func lines(of text: [UInt8]) -> Int {
    text.count { $0 == 0x0A } + (text.isEmpty || text.last == 0x0A ? 0 : 1)
  }
}
