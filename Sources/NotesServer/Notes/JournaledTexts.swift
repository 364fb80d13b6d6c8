/// The texts that no document has yet, and that nothing but the journal keeps if this process is killed.
struct JournaledTexts {
  typealias Text = JournalFrame.Client.LeftText

  /// Those of closed buffers, each by its URI.
  var left: [BufferKey: Text] = [:]
  /// Those of other programs, which this process has written over.
  var overwritten: [NoteKey: Text] = [:]

  /// All of them, for a journal that begins anew.
  var frames: [JournalFrame] {
    left.map { Self.frame(left: $0.value, $0.key) } + overwritten.map { Self.frame(overwritten: $0.value, $0.key) }
  }

  static func frame(left text: Text, _ key: BufferKey) -> JournalFrame {
    JournalFrame(document: key.document, clients: [JournalFrame.Client(key, .left(text))])
  }

  /// - Parameter text: nil once it is merged.
  static func frame(overwritten text: Text?, _ key: NoteKey) -> JournalFrame {
    let news = text.map { JournalFrame.Client.News.left($0) } ?? .closed
    return JournalFrame(document: key.document, overwritten: [JournalFrame.Client(item: key.item, news: news)])
  }
}
