import JSONRPC
import Testing

/// JSON text that is written without a value of it.
struct JSONTextWriterTests {
  @Test func whatIsWrittenIsReadAgain() throws {
    var writer = JSONTextWriter()
    writer.object { writer in
      writer.member("text", "a \"quoted\" line,\nand 😀 {[:")
      writer.member("nothing", nil)
      writer.key("numbers")
      writer.array { writer in
        for number in [0, -7, Int.max] { writer.integer(number) }
      }
      writer.key("empty")
      writer.array { _ in }
      writer.key("inner")
      writer.object { $0.member("colon:", ":") }
      writer.key("yes")
      writer.bool(true)
      writer.key("objects")
      writer.array { writer in
        for _ in 0..<2 { writer.object { _ in } }
        writer.string("{")
        writer.string(",")
      }
    }
    #expect(
      try JSONValue(parsing: writer.bytes) == [
        "text": "a \"quoted\" line,\nand 😀 {[:", "numbers": [0, -7, .int(.max)], "empty": [], "inner": ["colon:": ":"],
        "yes": true, "objects": [[:], [:], "{", ","],
      ])
  }

  @Test func anAnswerThatIsTextAlreadyIsAFrameLikeAnyOther() throws {
    var sent: [UInt8] = []
    let connection = Connection { sent += $0 }
    connection.receive(FrameWriter.frame(.request(id: .int(7), method: "list", params: nil))) { _ in }
    #expect(connection.reply(to: .int(7), encoded: Array("[1]".utf8)))
    #expect(sent == FrameWriter.frame(.response(id: .int(7), result: .success([1]))))
    #expect(!connection.reply(to: .int(7), encoded: Array("[2]".utf8)), "each request is answered once")
  }

  @Test func aNotificationThatIsTextAlreadyIsAFrameLikeAnyOther() {
    var sent: [UInt8] = []
    let connection = Connection { sent += $0 }
    connection.notify("a/\"b\"", encoded: Array("[1]".utf8))
    #expect(sent == FrameWriter.frame(.notification(method: "a/\"b\"", params: [1])))
  }
}
