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

  /// The address stands in the clear; the token, and a URL with a query, are sealed.
  func record(sealedBy seal: inout TokenSeal) -> CBOR {
    let place = url.description
    let (sealedURL, sealedToken) = (
      text == place ? nil : seal.seal(text, for: place), token.flatMap { seal.seal($0, for: place) }
    )
    return .record([
      "url": .text(place), "sealedURL": sealedURL.map { .bytes($0) }, "sealedToken": sealedToken.map { .bytes($0) },
      "documents": .array(documents.map(\.description).sorted().map { .text($0) }),
    ])
  }

  /// Takes records of earlier versions as well, in which everything stands in the clear. What cannot be opened is left out: the
  /// server will refuse the person, who connects again.
  init?(record: CBOR, sealedBy seal: TokenSeal) {
    guard let text = record["url"]?.text, let place = WebSocketURL(text)?.description else { return nil }
    func opened(_ name: String) -> String? { record[name]?.bytes.flatMap { seal.open($0, for: place) } }
    self.init(opened("sealedURL") ?? text, token: opened("sealedToken") ?? record["token"]?.text)
    documents = Set((record["documents"]?.array ?? []).compactMap { $0.text.flatMap { DocumentId($0) } })
  }

  /// Whether a record has something in the clear that is sealed today.
  static func isOpen(_ record: CBOR) -> Bool {
    record["token"] != nil || record["url"]?.text.map { $0 != WebSocketURL($0)?.description } ?? false
  }
}
