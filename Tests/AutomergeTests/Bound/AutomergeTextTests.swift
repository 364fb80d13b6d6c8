import Foundation
import Testing

@testable import Automerge

struct AutomergeTextTests {
  struct Note: Codable, Equatable { var title: String, body: AutomergeText }
  struct Notes: Codable, Equatable { var notes: [Note] }

  @Test func aTextByItselfIsItsString() throws {
    let text = AutomergeText("hello")
    #expect(!text.isBound && text.value == "hello" && text.description == "hello")
    text.value = "bye"
    #expect(text.value == "bye" && AutomergeText().value == "")
    #expect(text == AutomergeText("bye") && text.hashValue == AutomergeText("bye").hashValue)
  }

  @Test func aBoundTextReadsAndWritesTheDocument() throws {
    let document = Document()
    let text = try AutomergeText("hello", doc: document, path: "notes.body")
    #expect(text.isBound)
    #expect(try document.text(at: "notes.body") == "hello")
    text.value = "hello world 👨‍👩‍👧"
    #expect(try document.text(at: "notes.body") == "hello world 👨‍👩‍👧")
    guard case .Object(let object, .Text)? = try document.at("notes.body") else { throw BindingError.NotText }
    try document.spliceText(obj: object, start: 0, delete: 5, value: "bye")
    #expect(text.value == "bye world 👨‍👩‍👧")
    #expect(try AutomergeText(doc: document, objId: object) == text)
  }

  @Test func settingTheValueWritesTheSmallestEdit() throws {
    let document = Document()
    let text = try AutomergeText("the quick brown fox", doc: document, path: "text")
    #expect(document.operations { text.value = "the quick brown fox" } == 0)
    #expect(document.operations { text.value = "the slow brown fox" } == 9)
    #expect(document.operations { text.value = "the slow brown foxes" } == 2)
    #expect(document.operations { text.value = "a the slow brown foxes!" } == 3)
    #expect(document.operations { text.value = "the slow brown foxes!" } == 2)
    text.value = "\u{E9}"
    #expect(document.operations { text.value = "e\u{301}" } == 3)
    #expect(Array(text.value.unicodeScalars) == ["e", "\u{301}"])
  }

  @Test func editsOfTwoPeopleAreBothKept() throws {
    let alice = Document()
    let mine = try AutomergeText("hello world", doc: alice, path: "text")
    let bob = alice.fork()
    let theirs = try AutomergeText(doc: bob, path: "text")
    #expect(theirs.value == "hello world")
    mine.value = "hello brave world"
    theirs.value = "hello world!"
    try alice.merge(other: bob)
    #expect(mine.value == "hello brave world!")
  }

  @Test func bindingTakesOrMakesTheTextAtAPath() throws {
    let document = Document()
    let first = AutomergeText("one")
    try first.bind(doc: document, path: "list.[0]")
    let second = AutomergeText()
    try second.bind(doc: document, path: "list.[0]")
    #expect(second.value == "one")
    try AutomergeText("two").bind(doc: document, path: "list.[0]")
    #expect(first.value == "two" && second.value == "two")
    try AutomergeText("end").bind(doc: document, path: "list.[1]")
    #expect(try document.text(at: "list.[1]") == "end")
  }

  @Test func bindingToWhatIsNoTextIsRefused() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "number", value: .Int(1))
    let text = AutomergeText("x")
    #expect(throws: BindingError.InvalidPath("")) { try text.bind(doc: document, path: "") }
    #expect(throws: BindingError.InvalidPath("[0]")) { try text.bind(doc: document, path: "[0]") }
    #expect(throws: CodingKeyLookupError.self) { try text.bind(doc: document, path: "list.[1]") }
    _ = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    #expect(throws: BindingError.InvalidPath("list.[1]")) { try text.bind(doc: document, path: "list.[1]") }
    #expect(throws: BindingError.NotText) { try text.bind(doc: document, path: "number") }
    #expect(throws: CodingKeyLookupError.self) { try text.bind(doc: document, path: "number.deeper") }
    #expect(throws: PathParseError.self) { try text.bind(doc: document, path: "/") }
    #expect(throws: BindingError.NotText) { try AutomergeText(doc: document, objId: .ROOT) }
    #expect(throws: BindingError.NotText) { try text.bind(doc: document, id: .ROOT) }
    #expect(!text.isBound && text.value == "x")
    for error in [BindingError.InvalidPath("a"), .NotText, .NotCounter, .Unbound] {
      #expect(error.localizedDescription == error.errorDescription)
    }
  }

  @Test func encodingBindsTheTextsOfAModel() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document), decoder = AutomergeDecoder(doc: document)
    var model = Notes(notes: [])
    try encoder.encode(model)
    model.notes.append(Note(title: "one", body: AutomergeText("hello world")))
    model.notes.append(Note(title: "", body: AutomergeText()))
    #expect(model.notes.allSatisfy { !$0.body.isBound })
    try encoder.encode(model)
    #expect(model.notes.allSatisfy { $0.body.isBound })
    #expect(try decoder.decode(Notes.self) == model)

    let copy = try Document(document.save())
    var read = try AutomergeDecoder(doc: copy).decode(Notes.self)
    #expect(read == model && read.notes.allSatisfy { $0.body.isBound })
    read.notes[1].title = "fred"
    read.notes[1].body.value = "new info here"
    try AutomergeEncoder(doc: copy).encode(read)
    #expect(try AutomergeDecoder(doc: copy).decode(Notes.self).notes[1].body.value == "new info here")
    #expect(model.notes[1].body.value == "")
  }

  @Test func aTextReplacedInAModelBecomesTheDocumentsText() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    let first = AutomergeText("Hello")
    try encoder.encode(["notes": [first]])
    let object = try document.at("notes.[0]")
    for string in ["Hello World!", "Wassup World?", ""] {
      try encoder.encode(["notes": [AutomergeText(string)]])
      #expect(try document.text(at: "notes.[0]") == string)
      #expect(try document.at("notes.[0]") == object && first.value == string)
    }
  }

  @Test func aTextOfAnotherDocumentIsCopied() throws {
    let one = Document(), other = Document()
    let text = try AutomergeText("hello", doc: one, path: "text")
    try AutomergeEncoder(doc: other).encode(["text": text])
    #expect(try other.text(at: "text") == "hello")
    text.value = "bye"
    #expect(try other.text(at: "text") == "hello")
    #expect(try one.text(at: "text") == "bye")
  }

  @Test func aLoneTextStandsAtTheKeyValue() throws {
    let document = Document()
    let text = AutomergeText("something")
    try AutomergeEncoder(doc: document).encode(text)
    #expect(text.isBound)
    #expect(try document.text(at: "value") == "something")
    #expect(try AutomergeDecoder(doc: document).decode(AutomergeText.self) == text)
  }

  @Test func otherEncodersSeeTheString() throws {
    let document = Document()
    let text = try AutomergeText("hello", doc: document, path: "text")
    let json = try JSONEncoder().encode(text)
    #expect(String(decoding: json, as: UTF8.self) == #"{"value":"hello"}"#)
    let read = try JSONDecoder().decode(AutomergeText.self, from: json)
    #expect(read == text && !read.isBound)
  }

  @Test func emojiAndMarksOfLettersStayWhole() throws {
    let document = Document()
    let text = try AutomergeText("🇬🇧👨‍👩‍👧‍👦😀e\u{301}", doc: document, path: "text")
    text.value = "🇬🇧👩‍🚀😀e\u{301}"
    #expect(text.value == "🇬🇧👩‍🚀😀e\u{301}")
    text.value = "😀"
    #expect(try document.text(at: "text") == "😀")
  }
}
