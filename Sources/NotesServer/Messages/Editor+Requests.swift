import AutomergeRepo
import JSONRPC

/// Carries out requests, here or in the process with the network.
extension Editor {
  func perform(_ method: String, _ params: Parameters) async throws -> any RequestResult {
    switch EditorProtocol.table[method] {
    case .concurrent(let type), .shared(let type): return try await type.init(params).perform(for: self)
    case .network(let type):
      let request = try type.init(params)
      if let answer = try await forward(request, params) { return answer }
      return try await request.perform(for: self)
    case .first, .last, .exit, .inTurn, .inBuffer, .withUndo, nil: throw ResponseError.methodNotFound(method)
    }
  }

  /// Carries out a request from another process of this person.
  func performForSibling(_ method: String, _ params: JSONValue) async -> Result<JSONValue, ResponseError> {
    switch EditorProtocol.table[method] {
    case .network, .shared: break
    case .first, .last, .exit, .inTurn, .inBuffer, .withUndo, .concurrent, nil:
      return .failure(.methodNotFound(method))
    }
    do {
      if let id = params["id"]?.stringValue.flatMap({ DocumentId($0) }) { try await service.notebook.refresh(id) }
      return .success(try await perform(method, Parameters(params)).json)
    } catch {
      return .failure(ResponseError(replyingTo: error))
    }
  }

  // MARK: Forwarding

  /// The answer of another process.
  private struct ForwardedResult: RequestResult {
    let json: JSONValue
  }

  /// Has the process with the network carry out a request; nil if there is none.
  func forward(_ request: some NetworkRequest, _ params: Parameters) async throws -> (any RequestResult)? {
    guard service.sharing.asksSiblings else { return nil }
    // This process may have started a moment ago.
    await service.siblings.settleForNetwork()
    guard service.sharing.asksSiblings, !service.repo.siblings.isEmpty else { return nil }
    var members = params.value.objectValue ?? JSONObject()
    if let request = request as? any SharedNoteRequest {
      let record = try await type(of: request).adoptsFiles ? noteOrAdopted(request.note) : note(request.note)
      // The other process reads it from the store.
      try await service.fetch(record.id).flush()
      try await service.notebook.save(record.id, withBase: false)
      members["uri"] = nil
      members["id"] = .string(record.id.description)
    }
    guard let answer = await service.siblings.requests.ask(type(of: request).method, .object(members)) else {
      return nil
    }
    let result = try answer.get()
    if let id = result["id"]?.stringValue.flatMap({ DocumentId($0) }) {
      try await service.notebook.refresh(id)
      await service.siblings.learnAccess(to: id, saidToBe: result["access"]?.stringValue.flatMap(Access.init))
    }
    return ForwardedResult(json: result)
  }
}
