import Automerge
import AutomergeRepo
import Cryptography
import Foundation

/// The content of a working file, as a process has found it. The store may not have it yet.
///
/// It is journaled together with the change that merges the file's words into the document. Otherwise, if the process
/// is killed before it records the base, the next process would compare the file with an older base, and could merge
/// the words again.
struct FileNews: Hashable {
  /// The agenda item whose file it is; nil for a note's.
  var item: String?
  var base: TextBase
  /// The digests of the bases that this one replaces, each of which the store may have. Another one in the store is newer: some
  /// process has recorded it since.
  var replaced: Set<Data>

  static let collection = "unrecorded"
  /// Larger bases are not journaled. A base is large if the file lacks much text.
  static let maximumTextBytes = 64 << 10

  init(_ base: TextBase, item: String?, replacing earlier: TextBase?) {
    (self.base, self.item, replaced) = (base, item, [Self.digest(of: earlier)])
  }

  /// The same after earlier news of the same process, whether or not the store has those.
  func following(_ earlier: FileNews?) -> FileNews {
    guard let earlier else { return self }
    var news = self
    news.replaced.formUnion(earlier.replaced)
    news.replaced.insert(Self.digest(of: earlier.base))
    return news
  }

  /// Whether this follows what the store has.
  func follows(_ stored: TextBase?) -> Bool { replaced.contains(Self.digest(of: stored)) }

  private static let digestByteCount = 16

  /// Empty if there is no base.
  private static func digest(of base: TextBase?) -> Data {
    guard var base else { return Data() }
    // An earlier version stored it with the record.
    base.object = nil
    var writer = CBORWriter()
    base.encode(into: &writer)
    return Data(SHA256.hash(data: writer.output).prefix(digestByteCount))
  }

  /// - Parameter run: the name of the process that left it.
  func stored(_ id: DocumentId, run: String) -> StoredItem {
    var writer = CBORWriter()
    encode(into: &writer)
    let key: StorageKey = [Self.collection] + NoteKey(id, item: item).names + [run]
    return StoredItem(key: key, data: Data(writer.output))
  }

  func encode(into writer: inout CBORWriter) {
    writer.map(item == nil ? 2 : 3)
    if let item {
      writer.text("item")
      writer.text(item)
    }
    writer.text("has")
    base.encode(into: &writer)
    writer.text("replaced")
    writer.array(replaced.count)
    for digest in replaced.sorted(by: { $0.lexicographicallyPrecedes($1) }) { writer.bytes(Array(digest)) }
  }

  /// Nil if the value is not file news.
  init?(_ cbor: CBOR) {
    guard let base = cbor["has"].flatMap(TextBase.init), let digests = cbor["replaced"]?.array else { return nil }
    (self.base, item) = (base, cbor["item"]?.text)
    replaced = Set(digests.compactMap(\.bytes).map { Data($0) })
  }

  init?(_ data: Data) {
    guard let cbor = try? CBOR(data, limits: .stored) else { return nil }
    self.init(cbor)
  }
}

extension Notebook {
  /// Records what killed processes had found a file to contain, unless a process has recorded something else since. Call it
  /// while no other process may record what this file contains.
  ///
  /// - Parameter handle: the note's document. A base that it lacks changes of waits for them.
  func takeUnrecordedBases(of key: NoteKey, _ handle: DocHandle) async throws {
    let prefix = [FileNews.collection] + key.names
    let items = try await storage.loadRange(prefix).filter { $0.key.count == prefix.count + 1 }
    guard !items.isEmpty, var record = try await stored(key) else { return }
    var (left, done): ([(key: StorageKey, news: FileNews)], [StorageKey]) = ([], [])
    for item in items {
      if let news = FileNews(item.data) { left.append((item.key, news)) } else { done.append(item.key) }
    }
    let base = record.fileBase
    for (_, news) in left where !handle.document.unknown(news.base.heads).isEmpty {
      try await handle.takeStored(with: news.base.heads)
    }
    while let next = left.firstIndex(where: {
      $0.news.follows(record.fileBase) && handle.document.unknown($0.news.base.heads).isEmpty
    }) {
      let (key, news) = left.remove(at: next)
      record.fileBase = news.base
      done.append(key)
    }
    done += left.filter { !$0.news.follows(record.fileBase) }.map(\.key)
    let recorded = record.fileBase == base ? nil : record.baseItem
    try await storage.commit(done.map { .remove($0) } + [recorded].compactMap(\.self).map { .save($0) })
  }
}
