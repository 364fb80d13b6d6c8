import Automerge
import Testing

struct TornWordTests {
  private func note(_ text: String) throws -> (Document, ObjId) {
    let document = Document(textEncoding: .utf8)
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: content, start: 0, delete: 0, value: text)
    return (document, content)
  }

  @Test func aWordIntoWhichAnotherWritesAtTheSameTimeIsExplained() throws {
    let (ana, content) = try note("tea\nj1")
    let ben = ana.fork()
    try ben.spliceText(obj: content, start: 0, delete: 0, value: "a greater number\n")
    try ben.spliceText(obj: content, start: 23, delete: 0, value: "\nk1001k\n")
    try ana.spliceText(obj: content, start: 6, delete: 0, value: "006j\n")
    try ana.merge(other: ben)
    #expect(try ana.text(obj: content) == "a greater number\ntea\nj1\nk1001k\n006j\n")
    #expect(try TornWord(in: ana).explains("j1006j"))
    #expect(try !TornWord(in: ana).explains("j1007j"))
  }

  @Test func aWordThatIsTornWithKnowledgeOfItsRestIsAFault() throws {
    let (ana, content) = try note("tea\nj1006j\n")
    let ben = ana.fork()
    try ben.spliceText(obj: content, start: 6, delete: 0, value: "\nk1001k\n")
    try ana.merge(other: ben)
    #expect(try !TornWord(in: ana).explains("j1006j"))
  }

  @Test func aWordWhoseRestIsTypedBehindWhatIsKnownIsAFault() throws {
    let (ana, content) = try note("tea\nj1")
    try ana.spliceText(obj: content, start: 6, delete: 0, value: "\nk1001k\n")
    try ana.spliceText(obj: content, start: 14, delete: 0, value: "006j\n")
    #expect(try !TornWord(in: ana).explains("j1006j"))
  }
}
