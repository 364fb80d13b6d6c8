import JSONRPC

/// For commands, which make requests as an editor does, while an editor's service may be running.
extension Session {
  /// Carries out one request as if the editor had made it.
  public func perform(_ method: String, _ params: JSONValue) async throws(ResponseError) -> JSONValue {
    do {
      return try await editor.perform(method, Parameters(params)).json
    } catch {
      throw ResponseError(replyingTo: error)
    }
  }

  /// Called after each file of a folder that is imported, with its number and how many there are.
  public var onImport: ((Int, Int) -> Void)? {
    get { editor.news.onImport }
    set { editor.news.onImport = newValue }
  }

  /// Has the process with the network carry out a request about itself; nil if there is no such process.
  public func performInService(_ method: String, _ params: JSONValue) async throws(ResponseError) -> JSONValue? {
    await editor.service.siblings.settle()
    guard !editor.service.repo.siblings.isEmpty else { return nil }
    return try await editor.service.siblings.requests.ask(method, params)?.get()
  }

  /// Whether another process of this person is running.
  public var isServiceRunning: Bool { !editor.service.repo.siblings.isEmpty }

  /// Waits. Returns false if the process ends first.
  public func pause(for duration: Duration) async -> Bool { await editor.service.clock.pause(for: duration) }
}
