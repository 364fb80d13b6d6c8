/// A number that JSON-RPC or LSP assigns to a kind of error.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let parseError = ErrorCode(rawValue: -32700)
  public static let invalidRequest = ErrorCode(rawValue: -32600)
  public static let methodNotFound = ErrorCode(rawValue: -32601)
  public static let invalidParams = ErrorCode(rawValue: -32602)
  public static let internalError = ErrorCode(rawValue: -32603)
  /// The client sent a request before `initialize`.
  public static let serverNotInitialized = ErrorCode(rawValue: -32002)
  /// A valid request failed: LSP's code for errors that are not protocol errors.
  public static let requestFailed = ErrorCode(rawValue: -32803)
  public static let serverCancelled = ErrorCode(rawValue: -32802)
  /// The text changed while the request was being handled.
  public static let contentModified = ErrorCode(rawValue: -32801)
  /// The client cancelled the request.
  public static let requestCancelled = ErrorCode(rawValue: -32800)
}
