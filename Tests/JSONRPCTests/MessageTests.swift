import JSONRPC
import Testing

struct MessageTests {
  private func message(_ text: String) throws -> Message { try Message(try JSONValue(parsing: text)) }

  @Test(arguments: [
    Message.request(id: .int(1), method: "a", params: ["x": 1]), .request(id: .string("q"), method: "a", params: nil),
    .request(id: .null, method: "a", params: [1, 2]), .notification(method: "n", params: ["x": nil]),
    .notification(method: "n", params: nil), .response(id: .int(7), result: .success(.null)),
    .response(id: .int(7), result: .success([1])),
    .response(id: .null, result: .failure(ResponseError(code: .parseError, message: "no", data: ["kind": "x"]))),
  ])
  func everyKindReadsBackTheSame(message: Message) throws {
    #expect(try Message(try JSONValue(parsing: message.json.encoded())) == message)
  }

  @Test func toleratesWhatEditorsSend() throws {
    #expect(try message(#"{"jsonrpc":"2.0","method":"n","params":null}"#) == .notification(method: "n", params: nil))
    #expect(
      try message(#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#)
        == .response(id: .int(1), result: .success([:])))
    #expect(try message(#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#) == .request(id: .int(1), method: "m", params: nil))
  }

  @Test func anUnreadableErrorIsStillAFailure() throws {
    guard case .response(.int(1), .failure(let error)) = try message(#"{"jsonrpc":"2.0","id":1,"error":"oops"}"#) else {
      Issue.record("not a failure")
      return
    }
    #expect(error.code == .internalError)
  }

  @Test(arguments: [
    ("[]", InvalidMessage.Problem.batch, RequestId.null, false),
    (#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, .batch, .null, false), ("1", .notAnObject, .null, false),
    ("null", .notAnObject, .null, false), (#"{"id":1,"method":"m"}"#, .wrongVersion, .int(1), false),
    (#"{"jsonrpc":"1.0","id":"s","method":"m"}"#, .wrongVersion, .string("s"), false),
    (#"{"jsonrpc":2.0,"id":"s","method":"m"}"#, .wrongVersion, .string("s"), false),
    (#"{"jsonrpc":"2.0","id":[],"method":"m"}"#, .invalidId, .null, false),
    (#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, .invalidId, .null, false),
    (#"{"jsonrpc":"2.0","id":4,"method":5}"#, .invalidMethod, .int(4), false),
    (#"{"jsonrpc":"2.0","id":4,"method":null}"#, .invalidMethod, .int(4), false),
    (#"{"jsonrpc":"2.0","id":4,"method":"m","params":"x"}"#, .invalidParams, .int(4), false),
    (#"{"jsonrpc":"2.0","id":4}"#, .noKind, .int(4), false), ("{\"jsonrpc\":\"2.0\"}", .noKind, .null, false),
    (#"{"jsonrpc":"2.0","result":1}"#, .invalidId, .null, true),
    (#"{"id":3,"result":1}"#, .wrongVersion, .int(3), true),
  ])
  func saysWhatIsWrong(text: String, problem: InvalidMessage.Problem, id: RequestId, isResponse: Bool) throws {
    let error = #expect(throws: InvalidMessage.self) { try message(text) }
    #expect(error?.problem == problem)
    #expect(error?.id == id)
    #expect(error?.isResponse == isResponse)
    #expect(error?.response.code == .invalidRequest)
  }
}
