import JSONRPC
import TestSupport
import Testing

struct JSONWriterTests {
  @Test func writesCompactText() {
    let value: JSONValue = ["a": [1, -2, 0.5, true, nil], "b": "x", "c": [:], "d": []]
    #expect(value.description == #"{"a":[1,-2,0.5,true,null],"b":"x","c":{},"d":[]}"#)
  }

  @Test func escapesOnlyWhatItMust() {
    let text = "\"\\/\u{0}\u{8}\t\n\u{c}\r\u{1f}\u{7f}é\u{2028}😀"
    #expect(JSONValue.string(text).description == #""\"\\/\u0000\b\t\n\f\r\u001f"# + "\u{7f}é\u{2028}😀\"")
  }

  @Test func writesTheExtremesOfNumbers() {
    #expect(JSONValue.int(.min).description == "-9223372036854775808")
    #expect(JSONValue.int(.max).description == "9223372036854775807")
    #expect(JSONValue.int(0).description == "0")
    #expect(JSONValue.double(1).description == "1.0")
    #expect(JSONValue.double(.nan).description == "null")
    #expect(JSONValue.double(-.infinity).description == "null")
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func whatIsWrittenReadsBackTheSame(seed: UInt64) throws {
    var random = RandomJSON(generator: SeededGenerator(seed: seed))
    for step in 0..<200 {
      let value = random.value()
      let bytes = value.encoded()
      #expect(try JSONValue(parsing: bytes) == value, "seed \(seed) step \(step)")
      #expect(try JSONValue(parsing: bytes).encoded() == bytes, "seed \(seed) step \(step)")
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func damagedTextIsReadOrRefusedButNeverWorse(seed: UInt64) {
    var random = RandomJSON(generator: SeededGenerator(seed: seed))
    for step in 0..<300 {
      var bytes = random.value().encoded()
      for _ in 0..<Int.random(in: 1...3, using: &random.generator) {
        let position = Int.random(in: 0..<bytes.count, using: &random.generator)
        bytes[position] = UInt8.random(in: 0...255, using: &random.generator)
      }
      guard let value = try? JSONValue(parsing: bytes) else { continue }
      #expect((try? JSONValue(parsing: value.encoded())) == value, "seed \(seed) step \(step)")
    }
  }
}
