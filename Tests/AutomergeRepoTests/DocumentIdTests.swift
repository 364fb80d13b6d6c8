import TestSupport
import Testing

@testable import AutomergeRepo

struct DocumentIdTests {
  @Test(arguments: [
    ("148vjpuxLmPtrT3kP4TEueSfUbc", "00112233445546778899aabbccddeeff"),
    ("11111111111111114Ki9Gx", "00000000000000000000000000000000"),
    ("4ZrjxJnU1LA5xSyrWMNuXTozYEvA", "ffffffffffffffffffffffffffffffff"),
    ("3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX", "9d16c8d915374cdc8e1ee74b6321cc4e"),
  ])
  func knownIdsAreReadAndWritten(text: String, hex: String) throws {
    let id = try #require(DocumentId(text))
    #expect(id.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == hex)
    #expect(DocumentId(bytes: id.bytes)?.description == text)
    #expect(DocumentId("automerge:" + text) == id)
  }

  @Test(arguments: [
    "", "1", "148vjpuxLmPtrT3kP4TEueSfUbd", "148vjpuxLmPtrT3kP4TEueSfUb", "0OIl", "../x", "a\u{0}b", "automerge:",
    "automerge:automerge:148vjpuxLmPtrT3kP4TEueSfUbc", " 148vjpuxLmPtrT3kP4TEueSfUbc", "3QJmnh", "1111",
    String(repeating: "1", count: 64), String(repeating: "z", count: 100_000),
  ])
  func textThatIsNoIdIsRefused(text: String) {
    #expect(DocumentId(text) == nil)
  }

  @Test func onlySixteenBytesAreAnId() {
    for count in [0, 15, 17, 32] {
      #expect(DocumentId(bytes: [UInt8](repeating: 7, count: count)) == nil)
      #expect(DocumentId(Base58Check.encode([UInt8](repeating: 7, count: count))) == nil)
    }
  }

  @Test func randomIdsAreUUIDsAndSurviveTheirText() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<500 {
      let id = DocumentId.random(using: &random)
      #expect(DocumentId(id.description) == id)
      #expect(id.bytes[6] >> 4 == 4 && id.bytes[8] >> 6 == 2)
    }
  }
}
