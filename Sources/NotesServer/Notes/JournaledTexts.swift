/// The texts that no document has yet, and that nothing but the journal keeps if this process is killed.
struct JournaledTexts {
  typealias Text = JournalFrame.Client.LeftText

  /// Those of closed buffers, each by its URI.
  var left: [BufferKey: Text] = [:]
  /// Those of other programs, which this process or its editor has written over.
  private var overwritten: [NoteKey: [Text]] = [:]
  /// The times of those that are merged, but may not be stored.
  private var merged: [NoteKey: Set<Int>] = [:]

  /// Whether some text would be lost without the journal once all documents are stored.
  var hasUnmerged: Bool {
    !left.isEmpty || overwritten.contains { key, texts in texts.contains { merged[key]?.contains($0.time) != true } }
  }

  /// - Returns: the entry for the journal
  mutating func add(_ text: OverwrittenText) -> JournalFrame {
    let key = text.key, text = Text(text: text.bytes, time: text.stamp.time)
    overwritten[key, default: []].append(text)
    return Self.frame(overwritten: .left(text), key)
  }

  mutating func merge(_ text: OverwrittenText) { merged[text.key, default: []].insert(text.stamp.time) }

  /// Forgets the merged texts of a note.
  ///
  /// - Returns: the entries for the journal
  mutating func removeMerged(_ key: NoteKey) -> [JournalFrame] {
    guard let times = merged.removeValue(forKey: key) else { return [] }
    return times.sorted().compactMap { remove($0, key) }
  }

  /// Forgets the text of this time.
  ///
  /// - Returns: the entry for the journal; nil if there is no such text
  mutating func remove(_ time: Int, _ key: NoteKey) -> JournalFrame? {
    guard let index = overwritten[key]?.firstIndex(where: { $0.time == time }) else { return nil }
    overwritten[key]?.remove(at: index)
    if overwritten[key]?.isEmpty == true { overwritten[key] = nil }
    return Self.frame(overwritten: .merged(time: time), key)
  }

  /// All of them, for a journal that begins anew.
  var frames: [JournalFrame] {
    left.map { Self.frame(left: $0.value, $0.key) }
      + overwritten.flatMap { key, texts in texts.map { Self.frame(overwritten: .left($0), key) } }
  }

  static func frame(left text: Text, _ key: BufferKey) -> JournalFrame {
    JournalFrame(document: key.document, clients: [JournalFrame.Client(key, .left(text))])
  }

  private static func frame(overwritten news: JournalFrame.Client.News, _ key: NoteKey) -> JournalFrame {
    JournalFrame(document: key.document, overwritten: [JournalFrame.Client(item: key.item, news: news)])
  }
}
