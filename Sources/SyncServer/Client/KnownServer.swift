import Automerge
import AutomergeRepo
import Cryptography
import WebSocketNetwork

/// A server that this person's service stays connected to, and the documents that the server may have.
public struct KnownServer: Hashable, Sendable {
  public static let prefix: StorageKey = ["servers"]

  /// The URL as the person wrote it; its query may contain a token.
  let text: String
  public let url: WebSocketURL
  public var token: String?
  /// The documents that this person published there, or got from there.
  public var documents: Set<DocumentId> = []

  /// Nil if the text is not the URL of a WebSocket server.
  public init?(_ text: String, token: String? = nil) {
    guard let url = WebSocketURL(text) else { return nil }
    (self.text, self.url, self.token) = (text, url, token)
  }

  /// The repo's id for the server, whatever id the server claims: its address, without a query. No key has such an id.
  public var peer: PeerId { PeerId(url.description) }

  /// The name to show: the host, with the port if one of the others has the same host.
  func name(among others: some Sequence<KnownServer>) -> String {
    let isAlone = !others.contains { $0.url.host == url.host && $0.peer != peer }
    return isAlone ? url.host : "\(url.host):\(url.port)"
  }

  // MARK: Storage

  var key: StorageKey { Self.prefix + [hexadecimal(SHA256.hash(data: Array(url.description.utf8)))] }

  /// The address is stored in the clear; the token, and a URL with a query, are sealed.
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

  /// Also reads the records of earlier versions, which are not encrypted. Drops what cannot be decrypted: the server then
  /// refuses the person, and the person has to connect again.
  init?(record: CBOR, sealedBy seal: TokenSeal) {
    guard let text = record["url"]?.text, let place = WebSocketURL(text)?.description else { return nil }
    func opened(_ name: String) -> String? { record[name]?.bytes.flatMap { seal.open($0, for: place) } }
    self.init(opened("sealedURL") ?? text, token: opened("sealedToken") ?? record["token"]?.text)
    documents = Set((record["documents"]?.array ?? []).compactMap { $0.text.flatMap { DocumentId($0) } })
  }

  /// Whether a record has something in the clear that this version seals.
  static func isOpen(_ record: CBOR) -> Bool {
    record["token"] != nil || record["url"]?.text.map { $0 != WebSocketURL($0)?.description } ?? false
  }
}
