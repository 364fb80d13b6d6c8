/// The error of a response; `message` can be shown to a person.
public struct ResponseError: Error, Hashable, Sendable {
  public var code: ErrorCode
  public var message: String
  public var data: JSONValue?

  public init(code: ErrorCode, message: String, data: JSONValue? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  public static func methodNotFound(_ method: String) -> ResponseError {
    ResponseError(code: .methodNotFound, message: "There is no method \"\(method)\".")
  }

  public static func invalidParams(_ message: String) -> ResponseError {
    ResponseError(code: .invalidParams, message: message)
  }

  public static func invalidRequest(_ message: String) -> ResponseError {
    ResponseError(code: .invalidRequest, message: message)
  }

  public static func parseError(_ message: String) -> ResponseError {
    ResponseError(code: .parseError, message: message)
  }

  public static let requestCancelled = ResponseError(
    code: .requestCancelled, message: "The request was cancelled.")
}

extension ResponseError {
  /// Reads the `error` member of a response; nil if it is not a valid one.
  init?(_ json: JSONValue) {
    guard let code = json["code"]?.intValue else { return nil }
    self.init(code: ErrorCode(rawValue: code), message: json["message"]?.stringValue ?? "", data: json["data"])
  }

  public var json: JSONValue {
    .object(present: ["code": JSONValue(code.rawValue), "message": .string(message), "data": data])
  }
}
