import Foundation

/// A caller's request for a WebSocket, before it is answered.
public struct WebSocketRequest: Hashable, Sendable {
  /// Without the query, such as `/`.
  public let path: String
  /// From `Authorization: Bearer …`, or else from `?token=…`; nil without. Empty if there is one that cannot be read: it is wrong,
  /// not missing.
  public let token: String?
  /// The caller's address, without its port.
  public let host: String
  /// The page that the request comes from, if a browser sent it. Empty if several are named.
  public let origin: String?

  public init(path: String, token: String?, host: String, origin: String? = nil) {
    (self.path, self.token, self.host, self.origin) = (path, token, host, origin)
  }

  /// - Parameter head: of a request whose target has been checked.
  init(_ head: HTTPHead, from host: String) {
    let target = head.start[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(
      path: String(target[0]), token: Self.bearer(head) ?? Self.token(inQuery: target.count > 1 ? target[1] : ""),
      host: host, origin: head.values("origin").isEmpty ? nil : head.only("origin") ?? "")
  }

  private static func bearer(_ head: HTTPHead) -> String? {
    let bearers = head.values("authorization").map { $0.split(separator: " ", maxSplits: 1) }
      .filter { $0.first?.lowercased() == "bearer" }
    guard !bearers.isEmpty else { return nil }
    return bearers.count == 1 && bearers[0].count == 2 ? String(bearers[0][1]) : ""
  }

  private static func token(inQuery query: Substring) -> String? {
    for pair in query.split(separator: "&") where pair.hasPrefix("token=") {
      return pair.dropFirst("token=".count).removingPercentEncoding ?? ""
    }
    return nil
  }
}
