import JSONRPC
import Testing

struct JSONParserTests {
  @Test(
    arguments: [
      ("null", nil), (" true ", true), ("\n[]\t", []), ("{}", [:]), ("0", 0), ("-0", 0), ("-12", -12),
      ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      ("9223372036854775808", .double(9223372036854775808)), ("-9223372036854775809", .double(-9223372036854775808)),
      ("18446744073709551616", .double(18446744073709551616)),
      ("1.0", 1.0), ("1e3", 1000.0), ("-2.5E-1", -0.25), ("1E+2", 100.0), ("0.1", 0.1), ("1e-400", 0.0),
      ("[1, [2], {\"a\" : null}]", [1, [2], ["a": nil]]), ("\"\"", ""), ("\"a/b\\/c\"", "a/b/c"),
      ("\"\\b\\f\\n\\r\\t\\\"\\\\\"", "\u{8}\u{c}\n\r\t\"\\"), ("\"\\u00e9\\u20AC\"", "é€"),
      ("\"\\ud83d\\ude00\"", "😀"),
      ("\"\\uD834\\uDD1E x\"", "𝄞 x"), ("\"\\u0000\"", "\0"), ("\"\u{7f}\u{2028}\u{feff}\"", "\u{7f}\u{2028}\u{feff}"),
      ("{\"a\":1,\"b\":2,\"a\":3}", ["a": 3, "b": 2]), ("{\"\":0}", ["": 0]),
    ] as [(String, JSONValue)])
  func acceptsWhatTheStandardDoes(text: String, expected: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == expected)
  }

  @Test(arguments: [
    "", " ", "nul", "nulL", "truefalse", "tru", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "{\"a\"",
    "{\"a\":",
    "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{1:1}", "{'a':1}", "\"", "\"a", "\"\\", "\"\\x\"",
    "\"\\u12\"", "\"\\u12G4\"", "\"\t\"", "\"\n\"", "\"\u{0}\"", "01", "-", "-a", "+1", "1.", ".5", "1.e2", "1e", "1e+",
    "0x10", "NaN", "Infinity", "-Infinity", "1_000", "[1]x", "1 2", "/**/1", "\u{feff}1", "\u{a0}1", "1e400", "-1e400",
    "{\"a\":1 \"b\":2}", "[\"a\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83dx\"", "\"\\ud83d\\n\"", "\"\\ud83d\\ud83d\"",
    "\"\\ud83d\\u0041\"", "\"\\ud83d", "\"\\ud83d\\u\"", "--1", "1-2", "00", "-01", "𝟏",
  ])
  func refusesWhatTheStandardDoes(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
  }

  @Test(
    arguments: [
      [0xff], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80], [0xf0, 0x9f, 0x98],
    ] as [[UInt8]])
  func refusesInvalidUTF8(bytes: [UInt8]) {
    let quoted = Array("\"a".utf8) + bytes + Array("\"".utf8)
    #expect(throws: JSONError.invalidUTF8(at: 0)) { try JSONValue(parsing: quoted) }
    let escaped = Array("\"\\n".utf8) + bytes + Array("\"".utf8)
    #expect(throws: JSONError.invalidUTF8(at: 0)) { try JSONValue(parsing: escaped) }
  }

  @Test func saysWhatIsWrongAndWhere() {
    #expect(throws: JSONError.unexpectedByte(0x78, at: 3)) { try JSONValue(parsing: "[1]x") }
    #expect(throws: JSONError.unexpectedEnd) { try JSONValue(parsing: "[1") }
    #expect(throws: JSONError.loneSurrogate(at: 2)) { try JSONValue(parsing: "\"a\\ud83d\"") }
    #expect(throws: JSONError.invalidEscape(at: 1)) { try JSONValue(parsing: "\"\\x\"") }
    #expect(throws: JSONError.controlCharacter(at: 2)) { try JSONValue(parsing: "\"a\u{1}\"") }
    #expect(throws: JSONError.invalidNumber(at: 1)) { try JSONValue(parsing: "[01]") }
    #expect(throws: JSONError.numberTooLarge(at: 0)) { try JSONValue(parsing: "1e999") }
  }

  @Test func nestsAsDeepAsAllowedAndNoDeeper() throws {
    let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    _ = try JSONValue(parsing: nested(128))
    #expect(throws: JSONError.tooDeep(at: 128)) { try JSONValue(parsing: nested(129)) }
    #expect(throws: JSONError.tooDeep(at: 128)) { try JSONValue(parsing: String(repeating: "[", count: 1_000_000)) }
    let siblings = "[" + Array(repeating: nested(100), count: 50).joined(separator: ",") + "]"
    _ = try JSONValue(parsing: siblings)
  }

  @Test func boundsTheNumberOfValuesAndTheLengthOfNumbers() throws {
    var limits = JSONLimits()
    limits.valueCount = 4
    _ = try JSONValue(parsing: "[1,2,3]", limits: limits)
    #expect(throws: JSONError.tooManyValues(at: 7)) { try JSONValue(parsing: "[1,2,3,4]", limits: limits) }
    let long = String(repeating: "9", count: 2_000_000)
    #expect(throws: JSONError.numberTooLarge(at: 0)) { try JSONValue(parsing: long) }
    #expect(throws: JSONError.numberTooLarge(at: 0)) { try JSONValue(parsing: "0." + long) }
  }

  @Test func aCutOffTextIsAlwaysAnError() throws {
    let text = Array(#"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00"],"b":{"c":true,"d":null}}"#.utf8)
    _ = try JSONValue(parsing: text)
    for count in 0..<text.count {
      #expect(throws: JSONError.self, "cut at \(count)") { try JSONValue(parsing: Array(text[..<count])) }
    }
  }

  @Test func anObjectOfManyKeysIsReadInLinearTime() throws {
    let text = "{" + (0..<100_000).map { "\"key\($0)\":\($0)" }.joined(separator: ",") + ",\"key7\":-1}"
    let value = try JSONValue(parsing: text)
    #expect(value["key99999"] == 99_999)
    #expect(value["key7"] == -1)
    #expect(value.objectValue?.count == 100_000)
  }
}
