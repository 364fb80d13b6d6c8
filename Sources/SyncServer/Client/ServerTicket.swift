import AutomergeRepo

/// A document on a server that is always on, through which two people can share it without reaching each other:
/// `wss://host/#automerge:ID`. The server's address may have a query with a token.
public struct ServerTicket: Hashable, Sendable {
  /// The server's address.
  public let server: String
  public let document: DocumentId

  /// Nil for any other text.
  public init?(_ text: String) {
    guard let mark = text.firstIndex(of: "#"), KnownServer(String(text[..<mark])) != nil,
      let url = AutomergeURL(String(text[text.index(after: mark)...]))
    else { return nil }
    (server, document) = (String(text[..<mark]), url.documentId)
  }
}
