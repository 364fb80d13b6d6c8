import JSONRPC
import Testing

struct ParametersTests {
  private enum Access: String, CaseIterable { case read, write }

  private let params = Parameters([
    "uri": "file:///a", "version": 3, "flag": true, "nothing": nil, "negative": -1, "access": "write",
    "names": ["a", "b"], "mixed": ["a", 1],
    "textDocument": ["uri": 5], "contentChanges": [["text": "a"], ["text": 7], ["range": ["start": [:]]]],
    "huge": 9_223_372_036_854_775_807,
  ])

  @Test func fieldsAreReadByKind() throws {
    #expect(try params.string("uri") == "file:///a")
    #expect(try params.int("version") == 3)
    #expect(try params.bool("flag"))
    #expect(try params.strings("names") == ["a", "b"])
    #expect(try params.choice("access", as: Access.self) == .write)
    #expect(try params.nonNegativeInt("huge") == .max)
    #expect(try params.array("contentChanges").count == 3)
  }

  @Test func absentAndNullFieldsAreNil() throws {
    #expect(try params.stringIfPresent("absent") == nil)
    #expect(try params.intIfPresent("nothing") == nil)
    #expect(try params.objectIfPresent("nothing") == nil)
    #expect(!params.has("nothing"))
    #expect(try Parameters(nil).stringIfPresent("x") == nil)
  }

  private func message(_ read: () throws -> Void) -> String? {
    let error = #expect(throws: ResponseError.self) { try read() }
    #expect(error?.code == .invalidParams)
    return error?.message
  }

  @Test func errorsNameTheField() throws {
    #expect(message { _ = try params.string("absent") } == "\"absent\" is missing; it must be a string.")
    #expect(message { _ = try params.string("version") } == "\"version\" must be a string.")
    #expect(message { _ = try params.int("uri") } == "\"uri\" must be an integer.")
    #expect(message { _ = try params.nonNegativeInt("negative") } == "\"negative\" must be an integer from 0 up.")
    #expect(message { _ = try params.choice("uri", as: Access.self) } == "\"uri\" must be \"read\" or \"write\".")
    #expect(message { _ = try params.strings("mixed") } == "\"mixed\" must be an array of strings.")
    #expect(message { _ = try params.array("names") } == "\"names[0]\" must be an object.")
    #expect(message { _ = try params.object("textDocument").string("uri") } == "\"textDocument.uri\" must be a string.")
    let changes = try params.array("contentChanges")
    #expect(message { _ = try changes[1].string("text") } == "\"contentChanges[1].text\" must be a string.")
    #expect(
      message { _ = try changes[2].object("range").object("start").nonNegativeInt("line") }
        == "\"contentChanges[2].range.start.line\" is missing; it must be an integer from 0 up.")
    #expect(message { _ = try Parameters([1, 2]).string("uri") } == "\"uri\" is missing; it must be a string.")
    #expect(params.invalid("range", "is inside out").message == "\"range\" is inside out.")
  }
}
