import Automerge
import Cryptography
import Foundation

/// The heads of many documents in few bytes, so that two peers find the documents that differ without listing all.
///
/// Each document has a hash of its id and heads; `CatalogueSums` has the sums of these.
struct Catalogue {
  static let bucketCount = 256
  /// Each bucket takes eight bytes.
  static let bucketByteCount = bucketCount * 8

  private(set) var heads: [DocumentId: Set<ChangeHash>] = [:]
  private(set) var sums = CatalogueSums()

  mutating func add(_ document: DocumentId, _ heads: Set<ChangeHash>, hash: UInt64) {
    guard self.heads.updateValue(heads, forKey: document) == nil else { return }
    sums.add(document, hash)
  }

  var digest: Data { sums.digest }
  var buckets: Data { sums.buckets }

  /// The documents in the buckets that differ from the other side's; all documents if the other side's buckets have the
  /// wrong length.
  func documents(differingFrom other: Data) -> [DocumentId] {
    let (ours, theirs) = (Array(buckets), Array(other))
    let isDifferent = (0..<Self.bucketCount).map { bucket in
      let range = bucket * 8..<bucket * 8 + 8
      return theirs.count != ours.count || ours[range] != theirs[range]
    }
    return heads.keys.filter { isDifferent[Catalogue.bucket(of: $0)] }.sorted { $0.description < $1.description }
  }

  static func hash(_ document: DocumentId, _ heads: Set<ChangeHash>) -> UInt64 {
    var hash = SHA256()
    hash.update(data: document.bytes)
    hash.update(data: StoredHeads.encode(heads))
    return hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate static func bucket(of document: DocumentId) -> Int { Int(document.bytes[15]) }
}

/// The sums of a catalogue. Each document belongs to one bucket; a bucket's number is the sum of its documents' hashes,
/// and the digest is a hash of all buckets. One document's hash can be replaced without looking at the others.
struct CatalogueSums: Equatable {
  private var sums = [UInt64](repeating: 0, count: Catalogue.bucketCount)
  private(set) var count = 0

  mutating func add(_ document: DocumentId, _ hash: UInt64) {
    sums[Catalogue.bucket(of: document)] &+= hash
    count += 1
  }

  mutating func exchange(_ old: UInt64, for new: UInt64, of document: DocumentId) {
    sums[Catalogue.bucket(of: document)] &+= new &- old
  }

  /// 32 bytes, equal if the documents and their heads are equal.
  var digest: Data { Data(SHA256.hash(data: buckets)) }

  var buckets: Data {
    Data(
      sums.flatMap { sum in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: sum >> UInt64($0)) } })
  }
}

/// A document's heads, stored beside its chunks so that they can be read without the chunks.
enum StoredHeads {
  static let prefix: StorageKey = ["heads"]
  static let hashByteCount = 32
  /// The most heads that a peer may send: more than people who write at the same time cause.
  static let maximumHeads = 1024

  static func key(_ document: DocumentId) -> StorageKey { prefix + [document.description] }

  static func item(_ document: DocumentId, _ heads: Set<ChangeHash>) -> StoredItem {
    StoredItem(key: key(document), data: encode(heads))
  }

  /// The heads in order, 32 bytes each.
  static func encode(_ heads: Set<ChangeHash>, atMost count: Int = .max) -> Data {
    Data(heads.map { $0.bytes }.sorted { $0.lexicographicallyPrecedes($1) }.prefix(count).joined())
  }

  /// Nil unless the data are whole hashes, and not too many.
  static func decode(_ data: Data) -> Set<ChangeHash>? { decode(data, atMost: maximumHeads) }

  static func decode(_ data: Data, atMost count: Int) -> Set<ChangeHash>? {
    guard data.count % hashByteCount == 0, data.count / hashByteCount <= count else { return nil }
    let bytes = Array(data)
    var heads: Set<ChangeHash> = []
    for start in stride(from: 0, to: bytes.count, by: hashByteCount) {
      guard let hash = ChangeHash(bytes: Array(bytes[start..<start + hashByteCount])) else { return nil }
      heads.insert(hash)
    }
    return heads
  }
}
