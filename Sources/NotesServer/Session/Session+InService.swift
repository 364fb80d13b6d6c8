import JSONRPC

/// For commands, which run beside the service of an editor.
extension Session {
  /// Requests that a running service answers itself: not about the network, and not forwarded for editors.
  static let inServiceMethods: Set<String> = ["notes/status"]

  /// Has the process with the network carry out a request about itself; nil if there is none.
  public func performInService(_ method: String, _ params: JSONValue) async throws(ResponseError) -> JSONValue? {
    await service.siblingsAreThere()
    guard !service.repo.siblings.isEmpty else { return nil }
    return try await service.siblingRequests.ask(method, params)?.get()
  }

  /// Whether another process of this person is there.
  public var isServiceRunning: Bool { !service.repo.siblings.isEmpty }

  /// Waits; false if waiting is over because the process ends.
  public func pause(for duration: Duration) async -> Bool { await service.clock.pause(for: duration) }
}
