import Automerge
import Foundation

/// automerge-repo's messages about stores that are not connected to the receiver.
enum RemoteHeadsMessage: Equatable {
  /// The sender subscribes to the heads in these stores, or ends its subscription.
  case subscription(add: [StorageId], remove: [StorageId])
  case changed(DocumentId, [StorageId: (heads: Set<ChangeHash>, milliseconds: Int)])

  /// The most stores in one message. Source: PeerProtocol.md, "Remote heads".
  static let maximumStores = 32
  private static let maximumHeads = 64
  private static let maximumIdByteCount = 256

  private static let subscriptionType = "remote-subscription-change"
  private static let changedType = "remote-heads-changed"

  var type: String {
    switch self {
    case .subscription: Self.subscriptionType
    case .changed: Self.changedType
    }
  }

  /// The message's fields without its type, sender and receiver.
  var fields: [String: CBOR] {
    switch self {
    case .subscription(let add, let remove):
      ["add": Self.list(add), "remove": Self.list(remove)].filter { $0.value.array?.isEmpty == false }
    case .changed(let id, let stores):
      [
        "documentId": .text(id.description),
        "newHeads": .map(
          stores.sorted { $0.key.description < $1.key.description }.map { store, news in
            CBOR.Entry(
              .text(store.description),
              .record([
                "heads": .array(news.heads.sorted().map { .text(Base58Check.encode($0.bytes)) }),
                "timestamp": .integer(news.milliseconds),
              ]))
          }),
      ]
    }
  }

  private static func list(_ stores: [StorageId]) -> CBOR { .array(stores.map { .text($0.description) }) }

  /// Nil if it is another message, or lacks what it needs. Drops what exceeds a limit.
  init?(type: String, fields: [String: CBOR]) {
    switch type {
    case Self.subscriptionType:
      self = .subscription(add: Self.stores(fields["add"]), remove: Self.stores(fields["remove"]))
    case Self.changedType:
      guard let id = fields["documentId"]?.text.flatMap({ DocumentId($0) }) else { return nil }
      var stores: [StorageId: (heads: Set<ChangeHash>, milliseconds: Int)] = [:]
      for entry in (fields["newHeads"]?.entries ?? []).prefix(Self.maximumStores) {
        guard let store = Self.store(entry.key), let time = entry.value["timestamp"]?.double,
          let milliseconds = Int(exactly: time.rounded()),
          let texts = entry.value["heads"]?.array, texts.count <= Self.maximumHeads
        else { continue }
        let heads = texts.compactMap(\.text).compactMap { Base58Check.decode($0).flatMap { ChangeHash(bytes: $0) } }
        if heads.count == texts.count { stores[store] = (Set(heads), milliseconds) }
      }
      self = .changed(id, stores)
    default: return nil
    }
  }

  private static func stores(_ value: CBOR?) -> [StorageId] {
    (value?.array ?? []).prefix(maximumStores).compactMap(store)
  }

  private static func store(_ value: CBOR) -> StorageId? {
    value.text.flatMap { $0.isEmpty || $0.utf8.count > maximumIdByteCount ? nil : StorageId($0) }
  }

  static func == (one: RemoteHeadsMessage, other: RemoteHeadsMessage) -> Bool {
    one.type == other.type && one.fields == other.fields
  }
}
