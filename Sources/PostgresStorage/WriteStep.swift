import AutomergeRepo
import Cryptography
import Foundation

/// One step of a commit, already verified and hashed, so that the loop only has to send it.
enum WriteStep: Sendable {
  case saveChunk(ChunkName, Data)
  case saveRecord(key: String, Data, sha256: Data)
  /// Merges a record with what other processes have stored meanwhile.
  case updateRecord(key: String, Data, sha256: Data, of: SharedRecord)
  case removeChunk(ChunkName)
  case removeRecord(key: String)
  case removeRange(KeyRange)
  /// Moves a value with this SHA-256 to `damaged`.
  case setAside(StorageKey, key: String, sha256: Data)

  init(_ change: StorageChange) throws(StorageError) {
    switch change {
    case .save(let item):
      let key = try PostgresSchema.text(of: item.key)
      if let name = ChunkName(item.key) {
        self = .saveChunk(name, item.data)
      } else {
        self = .saveRecord(key: key, item.data, sha256: Self.hash(item.data))
      }
    case .remove(let key):
      let text = try PostgresSchema.text(of: key)
      self = ChunkName(key).map { .removeChunk($0) } ?? .removeRecord(key: text)
    case .removeRange(let prefix): self = .removeRange(KeyRange(prefix))
    case .update(let item, let record):
      let key = try PostgresSchema.text(of: item.key)
      // A chunk's name determines its content, so there is nothing to merge.
      if let name = ChunkName(item.key) {
        self = .saveChunk(name, item.data)
      } else {
        self = .updateRecord(key: key, item.data, sha256: Self.hash(item.data), of: record)
      }
    }
  }

  init(settingAside item: StoredItem) throws(StorageError) {
    self = .setAside(item.key, key: try PostgresSchema.text(of: item.key), sha256: Self.hash(item.data))
  }

  static func hash(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }

  var byteCount: Int {
    switch self {
    case .saveChunk(_, let data), .saveRecord(_, let data, _), .updateRecord(_, let data, _, _): data.count + 256
    case .removeChunk, .removeRecord, .removeRange, .setAside: 256
    }
  }

  /// The name that the transaction locks against other processes: that of a document's chunks, or of a record.
  var lockName: String {
    switch self {
    case .saveChunk(let name, _), .removeChunk(let name): name.document
    case .saveRecord(let key, _, _), .updateRecord(let key, _, _, _), .removeRecord(let key): key
    case .setAside(let key, let text, _): ChunkName(key)?.document ?? text
    case .removeRange(let range): range.prefix.first.map(StorageKeyText.escaped) ?? ""
    }
  }
}
