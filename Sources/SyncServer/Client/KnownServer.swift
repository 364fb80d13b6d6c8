import AutomergeRepo
import Crypto
import WebSocketNetwork

/// A server to which this person's service keeps connected, and the documents that it may have.
public struct KnownServer: Hashable, Sendable {
  public static let prefix: StorageKey = ["servers"]

  /// As the person wrote it; a query may hold a token.
  let text: String
  public let url: WebSocketURL
  public var token: String?
  /// The documents that this person has published there, or got from there.
  public var documents: Set<DocumentId> = []

  /// Nil if the text is no URL of a WebSocket server.
  public init?(_ text: String, token: String? = nil) {
    guard let url = WebSocketURL(text) else { return nil }
    (self.text, self.url, self.token) = (text, url, token)
  }

  /// What the repo calls the server, whatever id it claims: its address, without a query. No key has such an id.
  public var peer: PeerId { PeerId(url.description) }

  /// The name to show.
  public var name: String { url.host }

  // MARK: Storage

  var key: StorageKey { Self.prefix + [Self.hexadecimal(SHA256.hash(data: Array(url.description.utf8)))] }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  var record: CBOR {
    .record([
      "url": .text(text), "token": token.map { .text($0) },
      "documents": .array(documents.map(\.description).sorted().map { .text($0) }),
    ])
  }

  init?(record: CBOR) {
    guard let text = record["url"]?.text else { return nil }
    self.init(text, token: record["token"]?.text)
    documents = Set((record["documents"]?.array ?? []).compactMap { $0.text.flatMap { DocumentId($0) } })
  }
}
