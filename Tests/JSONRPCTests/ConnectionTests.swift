import JSONRPC
import Testing

/// A connection whose frames are kept as messages.
private final class Wire {
  private(set) var sent: [Message] = []
  private var reader = FrameReader()

  func open(frameLimit: Int = FrameReader.defaultFrameLimit) -> Connection {
    Connection(frameLimit: frameLimit) { [self] frame in
      reader.append(frame)
      while let body = try? reader.next(), let json = try? JSONValue(parsing: body), let message = try? Message(json) {
        sent.append(message)
      }
    }
  }
}

extension Connection {
  fileprivate func events(_ text: String) -> [Event] {
    var events: [Event] = []
    receive(FrameWriter.frame(Array(text.utf8))) { events.append($0) }
    return events
  }
}

struct ConnectionTests {
  private let wire = Wire()

  @Test func requestsAndNotificationsBecomeEvents() {
    let connection = wire.open()
    #expect(
      connection.events(#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}"#)
        == [.request(id: .int(1), method: "a", params: ["x": 1])])
    #expect(connection.events(#"{"jsonrpc":"2.0","method":"n"}"#) == [.notification(method: "n", params: nil)])
    #expect(wire.sent.isEmpty)
  }

  @Test func aRequestIsAnsweredOnce() {
    let connection = wire.open()
    _ = connection.events(#"{"jsonrpc":"2.0","id":"x","method":"a"}"#)
    #expect(connection.reply(to: .string("x"), .success(["ok": true])))
    #expect(!connection.reply(to: .string("x"), .failure(.requestCancelled)))
    #expect(!connection.reply(to: .int(5), .success(.null)))
    #expect(wire.sent == [.response(id: .string("x"), result: .success(["ok": true]))])
    #expect(connection.unansweredRequests.isEmpty)
  }

  @Test func aRepliedIdMayBeUsedAgainButNotWhileItWaits() {
    let connection = wire.open()
    let request = #"{"jsonrpc":"2.0","id":1,"method":"a"}"#
    #expect(connection.events(request).count == 1)
    guard case .protocolError(let error)? = connection.events(request).first else {
      Issue.record("the second request was taken")
      return
    }
    #expect(error.code == .invalidRequest)
    connection.reply(to: .int(1), .success(.null))
    #expect(connection.events(request) == [.request(id: .int(1), method: "a", params: nil)])
  }

  @Test func cancellingConcernsOnlyRequestsThatWait() {
    let connection = wire.open()
    _ = connection.events(#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#)
    let cancel = #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#
    #expect(connection.events(cancel) == [.cancelled(id: .int(1))])
    connection.reply(to: .int(1), .failure(.requestCancelled))
    #expect(connection.events(cancel).isEmpty)
    #expect(connection.events(#"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#).isEmpty)
    #expect(wire.sent == [.response(id: .int(1), result: .failure(.requestCancelled))])
  }

  @Test func ourRequestsCountFromTwoToTheThirtyAndMatchTheirResponses() {
    let connection = wire.open()
    let first = connection.request("window/showDocument", ["uri": "x"])
    let second = connection.request("other")
    #expect(first == .int(1 << 30))
    #expect(second == .int(1 << 30 + 1))
    #expect(wire.sent.first == .request(id: first, method: "window/showDocument", params: ["uri": "x"]))
    #expect(
      connection.events(#"{"jsonrpc":"2.0","id":1073741825,"error":{"code":-32601,"message":"no"}}"#)
        == [
          .response(id: second, method: "other", result: .failure(ResponseError(code: .methodNotFound, message: "no")))
        ])
    #expect(
      connection.events(#"{"jsonrpc":"2.0","id":1073741824,"result":null}"#)
        == [.response(id: first, method: "window/showDocument", result: .success(.null))])
    guard case .protocolError? = connection.events(#"{"jsonrpc":"2.0","id":1073741824,"result":null}"#).first else {
      Issue.record("a response came twice")
      return
    }
    #expect(wire.sent.count == 2)
  }

  @Test(arguments: ["{\"jsonrpc\":", "", "{\"a\":\"\\ud83d\"}", "\u{1}"])
  func brokenJSONIsAnsweredAndTheConversationGoesOn(text: String) {
    let connection = wire.open()
    guard case .protocolError(let error)? = connection.events(text).first else {
      Issue.record("no error for \(text)")
      return
    }
    #expect(error.code == .parseError)
    #expect(wire.sent == [.response(id: .null, result: .failure(error))])
    #expect(connection.events(#"{"jsonrpc":"2.0","method":"n"}"#).count == 1)
  }

  @Test func invalidMessagesAreAnsweredUnlessTheyAreResponses() {
    let connection = wire.open()
    _ = connection.events(#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#)
    _ = connection.events(#"{"jsonrpc":"2.0","id":9,"method":"a","params":3}"#)
    _ = connection.events(#"{"jsonrpc":"2.0","result":3}"#)
    _ = connection.events(#"{"jsonrpc":"2.0","id":77,"result":3}"#)
    #expect(wire.sent.count == 2)
    guard case .response(.null, .failure(let batch)) = wire.sent[0],
      case .response(.int(9), .failure(let second)) = wire.sent[1]
    else {
      Issue.record("wrong answers: \(wire.sent)")
      return
    }
    #expect(batch.code == .invalidRequest)
    #expect(second.code == .invalidRequest)
  }

  @Test func aFrameThatCannotBeReadIsFatalAfterTheGoodOnesBeforeIt() {
    let connection = wire.open(frameLimit: 1000)
    connection.append(FrameWriter.frame(Array(#"{"jsonrpc":"2.0","method":"n"}"#.utf8)))
    connection.append("Content-Length: 1001\r\n\r\n".utf8)
    #expect(connection.nextEvent() == .notification(method: "n", params: nil))
    #expect(connection.nextEvent() == .fatal(.frameTooLarge(limit: 1000)))
    #expect(connection.nextEvent() == nil)
    connection.append(FrameWriter.frame(Array(#"{"jsonrpc":"2.0","method":"n"}"#.utf8)))
    #expect(connection.nextEvent() == nil)
    guard case .response(.null, .failure(let error))? = wire.sent.first, wire.sent.count == 1 else {
      Issue.record("wrong answers: \(wire.sent)")
      return
    }
    #expect(error.code == .parseError)
  }

  @Test func repliesMayBeSentWhileEventsAreHandled() {
    let connection = wire.open()
    let frames = (1...3).flatMap { FrameWriter.frame(.request(id: .int($0), method: "m", params: nil)) }
    connection.receive(frames) { event in
      if case .request(let id, _, _) = event { connection.reply(to: id, .success(id.json)) }
    }
    #expect(wire.sent == (1...3).map { .response(id: .int($0), result: .success(.int($0))) })
    #expect(!connection.hasPartialFrame)
  }
}
