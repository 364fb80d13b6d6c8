/// Connects a response with its request. The sender of the request chooses it.
public enum RequestId: Hashable, Sendable {
  case int(Int64)
  case string(String)
  /// Answers a request whose id could not be read.
  case null
}

extension RequestId {
  /// The id in a message; nil if the value is not of a kind that JSON-RPC allows.
  public init?(_ json: JSONValue) {
    switch json {
    case .int(let value): self = .int(value)
    case .double(let value):
      guard let value = value.exactInt64 else { return nil }
      self = .int(value)
    case .string(let value): self = .string(value)
    case .null: self = .null
    case .bool, .array, .object: return nil
    }
  }

  public var json: JSONValue {
    switch self {
    case .int(let value): .int(value)
    case .string(let value): .string(value)
    case .null: .null
    }
  }
}

extension RequestId: CustomStringConvertible {
  public var description: String { json.description }
}
