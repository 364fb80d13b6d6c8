import Automerge
import Cryptography
import Foundation

/// The texts under the keys of a document's root, stored beside its chunks so that they can be read without the history.
///
/// They name the chunks whose text they are. A chunk's name is the hash of its content, so they are up to date if the store has
/// these chunks and no other.
struct StoredTexts: Equatable, Sendable {
  static let prefix: StorageKey = ["texts"]
  /// The history in fewer bytes of chunks is read in two milliseconds.
  static let minimumByteCount = 8 << 10
  /// Longer texts, and those of more keys, are not stored once more.
  static let maximumByteCount = 4 << 20
  static let maximumTexts = 64

  /// The hashes of the chunks' bytes, in hexadecimal and in order.
  let chunks: [String]
  /// By the keys of the root.
  let texts: [String: String]

  static func key(_ id: DocumentId) -> StorageKey { prefix + [id.description] }

  /// Nil if the texts are too long or too many.
  init?(_ texts: [String: String], ofChunks chunks: some Sequence<String>) {
    let byteCount = texts.values.reduce(0) { $0 + $1.utf8.count }
    guard byteCount <= Self.maximumByteCount, texts.count <= Self.maximumTexts else { return nil }
    (self.chunks, self.texts) = (chunks.sorted(), texts)
  }

  /// The texts of a document at some heads, without what is pending.
  /// - Complexity: O(n) in the texts and in what was deleted from them
  static func all(of document: Document, at heads: Set<ChangeHash>) -> [String: String] {
    var texts: [String: String] = [:]
    for key in document.keysAt(obj: .ROOT, heads: heads) {
      guard case .Object(let object, .Text)? = try? document.getAt(obj: .ROOT, key: key, heads: heads) else { continue }
      texts[key] = try? document.textAt(obj: object, heads: heads)
    }
    return texts
  }

  /// The present texts of a document.
  static func all(of document: Document) -> [String: String] {
    var texts: [String: String] = [:]
    for key in document.keys(obj: .ROOT) {
      guard case .Object(let object, .Text)? = try? document.get(obj: .ROOT, key: key) else { continue }
      texts[key] = try? document.text(obj: object)
    }
    return texts
  }

  // MARK: Coding

  private func encoded() -> Data {
    var writer = CBORWriter(reserving: texts.values.reduce(256 + chunks.count * 70) { $0 + $1.utf8.count })
    writer.map(2)
    writer.text("chunks")
    writer.array(chunks.count)
    for chunk in chunks { writer.text(chunk) }
    writer.text("texts")
    writer.map(texts.count)
    for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
      writer.text(key)
      writer.text(text)
    }
    return Data(SHA256.hash(data: writer.output)) + writer.output
  }

  /// Nil if the bytes are not those that were written.
  init?(_ data: Data) {
    let content = data.dropFirst(SHA256.byteCount)
    guard data.count > SHA256.byteCount, Data(SHA256.hash(data: content)) == data.prefix(SHA256.byteCount),
      let record = try? CBOR(content, limits: .stored), let chunks = record["chunks"]?.array,
      case .map(let entries)? = record["texts"]
    else { return nil }
    self.chunks = chunks.compactMap(\.text)
    var texts: [String: String] = [:]
    for entry in entries {
      guard let key = entry.key.text, let text = entry.value.text else { return nil }
      texts[key] = text
    }
    self.texts = texts
  }

  // MARK: The store

  /// Nothing of a document that is deleted meanwhile stays: a deletion removes this row after it has marked the document.
  @concurrent
  func save(as id: DocumentId, in storage: any StorageProvider) async throws(StorageError) {
    try await storage.save(Self.key(id), encoded())
    if try await StoredDocuments(storage: storage).isDeleted(id) { try await storage.remove(Self.key(id)) }
  }

  /// The texts, if they are up to date.
  @concurrent
  static func load(_ id: DocumentId, from storage: any StorageProvider) async throws(StorageError) -> StoredTexts? {
    guard let data = try await read(id, storage), let stored = StoredTexts(data) else { return nil }
    return try await names(ofChunks: id, in: storage) == stored.chunks ? stored : nil
  }

  /// A damaged row is as good as none.
  private static func read(_ id: DocumentId, _ storage: any StorageProvider) async throws(StorageError) -> Data? {
    do throws(StorageError) {
      return try await storage.load(key(id))
    } catch .damaged {
      return nil
    }
  }

  /// The names of the document's chunks in order; nil if changes were removed from them, which the chunks may still contain.
  static func names(
    ofChunks id: DocumentId, in storage: any StorageProvider
  ) async throws(StorageError) -> [String]? {
    var names: [String] = []
    for kind in try await storage.children(of: [id.description]) {
      if kind == DiscardedChanges.name { return nil }
      guard StoredChunks.Kind(rawValue: kind) != nil else { continue }
      names += try await storage.children(of: [id.description, kind])
    }
    return names.sorted()
  }
}
