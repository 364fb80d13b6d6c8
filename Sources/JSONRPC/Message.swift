/// One JSON-RPC 2.0 message.
public enum Message: Hashable, Sendable {
  case request(id: RequestId, method: String, params: JSONValue?)
  case notification(method: String, params: JSONValue?)
  case response(id: RequestId, result: Result<JSONValue, ResponseError>)
}

/// A JSON text that is not a JSON-RPC message.
public struct InvalidMessage: Error, Hashable, Sendable {
  public enum Problem: Hashable, Sendable {
    /// LSP has no batches.
    case batch
    case notAnObject
    case wrongVersion
    case invalidId
    case invalidMethod
    case invalidParams
    /// It has neither a method nor a result nor an error.
    case noKind
  }

  public let problem: Problem
  /// The message's id, if it has a valid one.
  public let id: RequestId
  /// Whether it was meant as a response; a response is never answered.
  public let isResponse: Bool

  /// The error to answer with.
  public var response: ResponseError {
    switch problem {
    case .batch: .invalidRequest("Batches of messages are not supported.")
    case .notAnObject: .invalidRequest("A message must be a JSON object.")
    case .wrongVersion: .invalidRequest("The field \"jsonrpc\" must be \"2.0\".")
    case .invalidId: .invalidRequest("The field \"id\" must be an integer, a string or null.")
    case .invalidMethod: .invalidRequest("The field \"method\" must be a string.")
    case .invalidParams: .invalidRequest("The field \"params\" must be an object or an array.")
    case .noKind: .invalidRequest("A message must have a \"method\", a \"result\" or an \"error\".")
    }
  }
}

extension Message {
  /// Reads a message from its JSON.
  public init(_ json: JSONValue) throws(InvalidMessage) {
    guard case .object(let object) = json else {
      let problem: InvalidMessage.Problem = json.arrayValue == nil ? .notAnObject : .batch
      throw InvalidMessage(problem: problem, id: .null, isResponse: false)
    }
    let method = object["method"]
    let isResponse = method == nil && (object["result"] != nil || object["error"] != nil)
    let id = object["id"].map(RequestId.init)
    let invalid = { (problem: InvalidMessage.Problem) in
      InvalidMessage(problem: problem, id: (id ?? nil) ?? .null, isResponse: isResponse)
    }
    guard object["jsonrpc"]?.stringValue == "2.0" else { throw invalid(.wrongVersion) }
    if case .some(.none) = id { throw invalid(.invalidId) }
    guard let method else {
      guard isResponse else { throw invalid(.noKind) }
      guard case .some(.some(let id)) = id else { throw invalid(.invalidId) }
      self = .response(id: id, result: Self.result(of: object))
      return
    }
    guard let name = method.stringValue else { throw invalid(.invalidMethod) }
    let params: JSONValue?
    switch object["params"] {
    case nil, .null?: params = nil
    case .array(let elements)?: params = .array(elements)
    case .object(let members)?: params = .object(members)
    case .bool?, .int?, .double?, .string?: throw invalid(.invalidParams)
    }
    if case .some(.some(let id)) = id {
      self = .request(id: id, method: name, params: params)
    } else {
      self = .notification(method: name, params: params)
    }
  }

  private static func result(of object: JSONObject) -> Result<JSONValue, ResponseError> {
    guard let error = object["error"], !error.isNull else { return .success(object["result"] ?? .null) }
    // The requester must learn that its request failed, even if the error cannot be read.
    return .failure(
      ResponseError(error) ?? ResponseError(code: .internalError, message: "The other side sent an unreadable error."))
  }

  public var json: JSONValue {
    switch self {
    case .request(let id, let method, let params):
      .object(present: ["jsonrpc": "2.0", "id": id.json, "method": .string(method), "params": params])
    case .notification(let method, let params):
      .object(present: ["jsonrpc": "2.0", "method": .string(method), "params": params])
    case .response(let id, .success(let result)): ["jsonrpc": "2.0", "id": id.json, "result": result]
    case .response(let id, .failure(let error)): ["jsonrpc": "2.0", "id": id.json, "error": error.json]
    }
  }
}
