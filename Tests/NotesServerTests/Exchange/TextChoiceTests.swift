import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Documents of other programs, in which a person chooses the text to edit.
@AutomergeRepo struct TextChoiceTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 7)))

  /// A book of chapters with these texts, and an author that is a plain string.
  private func book(_ chapters: [String]) throws -> Document {
    let document = Document()
    try document.put(obj: .ROOT, key: "author", value: .String("Ann\n"))
    let list = try document.putObject(obj: .ROOT, key: "chapters", ty: .List)
    for (index, chapter) in chapters.enumerated() {
      let map = try document.insertObject(obj: list, index: UInt64(index), ty: .Map)
      let text = try document.putObject(obj: map, key: "body", ty: .Text)
      try document.spliceText(obj: text, start: 0, delete: 0, value: chapter)
    }
    document.commitWith(message: nil, timestamp: world.clock.date)
    return document
  }

  private func chapters(of document: Document) throws -> [String] {
    try (0..<document.length(obj: try #require(try document.lookupPath(path: "chapters")))).map { index in
      try document.text(obj: try #require(try document.lookupPath(path: "chapters.[\(index)].body")))
    }
  }

  private func started() async throws -> ServiceUnderTest {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    return ben
  }

  private func refusal(_ ben: ServiceUnderTest, _ method: String, _ params: JSONValue) async -> ResponseError? {
    do {
      _ = try await ben.request(method, params)
      return nil
    } catch {
      return error as? ResponseError
    }
  }

  private func id(_ place: JSONValue) throws -> DocumentId {
    try #require(place["id"]?.stringValue.flatMap { DocumentId($0) })
  }

  @Test func theTextThatIsNamedIsEditedWhereItStands() async throws {
    let ben = try await started()
    ben.files["/in/book.automerge"] = Array(try book(["one\n", "two\n"]).save())
    let refusal = await refusal(ben, "notes/import", ["path": "/in/book.automerge"])
    #expect(refusal?.data?["kind"] == "chooseText")
    #expect(refusal?.message == "Name the text to edit: .chapters.[0].body, .chapters.[1].body, .author.")
    #expect(ben.service.notebook.records.isEmpty, "nothing is imported before the choice")
    let listed = try await ben.request("notes/texts", ["path": "/in/book.automerge"])
    #expect(
      listed == [
        "texts": [
          ["text": ".chapters.[0].body", "kind": "text", "start": "one"],
          ["text": ".chapters.[1].body", "kind": "text", "start": "two"],
          ["text": ".author", "kind": "string", "start": "Ann"],
        ]
      ])
    #expect(refusal?.data?["texts"] == listed["texts"])

    let place = try await ben.request("notes/import", ["path": "/in/book.automerge", "text": "chapters.[1].body"])
    let path = try #require(place["path"]?.stringValue), uri = try #require(place["uri"]?.stringValue)
    #expect(path == "/notes/book.md")
    #expect(ben.files[path] == Array("two\n".utf8))
    ben.open(uri, "two\n")
    try await ben.wait(for: "the buffer is the note's") { ben.binding(uri) != nil }
    ben.change(uri, "two and more\n", version: 2)
    let handle = try await ben.handle(of: try id(place))
    try await ben.wait(for: "the text") { (try? chapters(of: handle.document)) == ["one\n", "two and more\n"] }
    // A text that moves in its list is still the same text.
    try handle.change { document in
      try document.delete(obj: try #require(try document.lookupPath(path: "chapters")), index: 0)
    }
    #expect(ben.text(of: handle.id) == "two and more\n")
    #expect(try await ben.request("notes/texts", ["id": .string("\(handle.id)")])["text"] == ".chapters.[0].body")
  }

  @Test func aTextThatIsNotThereIsNamedInTheRefusal() async throws {
    let ben = try await started()
    ben.files["/in/book.automerge"] = Array(try book(["one\n", "two\n", "three\n"]).save())
    let refusal = await refusal(ben, "notes/import", ["path": "/in/book.automerge", "text": ".chapters.[7].body"])
    #expect(
      refusal?.message == "The document has no text .chapters.[7].body. "
        + "Name the text to edit: .chapters.[0].body, .chapters.[1].body, .chapters.[2].body or one other.")
    ben.files["/in/long.automerge"] = Array(try book((0..<9).map { "\($0)\n" }).save())
    let long = await self.refusal(ben, "notes/import", ["path": "/in/long.automerge"])
    #expect(long?.message.hasSuffix(".chapters.[2].body or one of 7 others.") == true)
  }

  @Test func theOnlyTextNeedsNoChoice() async throws {
    let ben = try await started()
    ben.files["/in/book.automerge"] = Array(try book(["one\n"]).save())
    let place = try await ben.request("notes/import", ["path": "/in/book.automerge"])
    #expect(ben.files[try #require(place["path"]?.stringValue)] == Array("one\n".utf8))
    #expect(place["message"] == "Imported \"book\": the document's text .chapters.[0].body")
    // A document that is here is only merged.
    let again = try await ben.request("notes/import", ["path": "/in/book.automerge"])
    #expect(again["remark"] == nil && again["message"] == "\"book\" is here already; merged 0 new changes")
  }

  @Test func anEmptyNoteIsSaidToBeOne() async throws {
    let ben = try await started()
    ben.files["/in/book.automerge"] = Array(try book([""]).save())
    let chosen = try await ben.request("notes/import", ["path": "/in/book.automerge"])
    #expect(chosen["remark"] == "the document's text .chapters.[0].body, which is empty")
    let note = Document()
    _ = try NoteDocument(new: note, title: "Tea", text: [], created: world.clock.date)
    ben.files["/in/note.automerge"] = Array(note.save())
    let imported = try await ben.request("notes/import", ["path": "/in/note.automerge"])
    #expect(imported["message"] == "Imported \"Tea\": the document's text is empty")
  }

  @Test func theTextThatWasTakenFromTheRootOfAnothersDocumentIsNamed() async throws {
    let ben = try await started()
    let document = try book(["one\n", "two\n"])
    let text = try document.putObject(obj: .ROOT, key: "blurb", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "Read it\n")
    ben.files["/in/book.automerge"] = Array(document.save())
    let imported = try await ben.request("notes/import", ["path": "/in/book.automerge"])
    #expect(imported["message"] == "Imported \"book\": the document's text .blurb")
    let note = Document()
    _ = try NoteDocument(new: note, title: "Tea", text: Array("green".utf8), created: world.clock.date)
    ben.files["/in/note.automerge"] = Array(note.save())
    #expect(try await ben.request("notes/import", ["path": "/in/note.automerge"])["message"] == "Imported \"Tea\"")
  }

  @Test func aDocumentWithoutATextIsRefused() async throws {
    let ben = try await started()
    let document = Document()
    ben.files["/in/none.automerge"] = Array(document.save())
    #expect(
      await refusal(ben, "notes/import", ["path": "/in/none.automerge"])?.message == "The document contains no text.")
    try document.put(obj: .ROOT, key: "pages", value: .Int(3))
    ben.files["/in/none.automerge"] = Array(document.save())
    #expect(
      await refusal(ben, "notes/import", ["path": "/in/none.automerge"])?.message == "The document contains no text.")
    #expect(ben.service.notebook.records.isEmpty)
  }

  @Test func aFileThatOnlyItsNameCallsADocumentIsRefused() async throws {
    let ben = try await started()
    for name in ["Tea.automerge", "Tea.meetingnotes", "Tea.AUTOMERGE"] {
      let path = "/in/" + name
      ben.files[path] = Array("green\n".utf8)
      let refused = await refusal(ben, "notes/import", ["path": .string(path)])
      #expect(refused?.data?["kind"] == "notANote")
      #expect(refused?.message == "Not an Automerge document. Named .md, it can be imported.")
      ben.files[path] = []
      #expect(
        await refusal(ben, "notes/import", ["path": .string(path)])?.message
          == "The file is empty, so it is not an Automerge document.")
    }
    #expect(ben.service.notebook.records.isEmpty)
    ben.files["/in/Tea.md"] = Array("green\n".utf8)
    #expect(try await ben.request("notes/import", ["path": "/in/Tea.md"])["message"] == "Imported \"Tea\"")
  }

  @Test func aStringIsMadeAText() async throws {
    let ben = try await started()
    ben.files["/in/book.automerge"] = Array(try book(["one\n", "two\n"]).save())
    let place = try await ben.request("notes/import", ["path": "/in/book.automerge", "text": ".author"])
    #expect(ben.files[try #require(place["path"]?.stringValue)] == Array("Ann\n".utf8))
    let document = try await ben.handle(of: try id(place)).document
    #expect(try document.lookupPath(path: "author").map { document.objectType(obj: $0) } == .Text)
  }

  @Test func aNoteThatIsHereKeepsItsText() async throws {
    let ben = try await started()
    let path = "/in/book.automerge"
    ben.files[path] = Array(try book(["one\n", "two\n"]).save())
    let place = try await ben.request("notes/import", ["path": .string(path), "text": ".chapters.[0].body"])
    let other = await refusal(ben, "notes/import", ["path": .string(path), "text": ".chapters.[1].body"])
    #expect(other?.data?["kind"] == "conflict")
    let string = await refusal(ben, "notes/open", ["id": place["id"] ?? .null, "text": ".author"])
    #expect(string?.data?["kind"] == "conflict")
    let again = try await ben.request("notes/import", ["path": .string(path)])
    #expect(again["id"] == place["id"] && again["known"] == true)
    let same = try await ben.request("notes/open", ["id": place["id"] ?? .null, "text": ".chapters.[0].body"])
    #expect(same["path"] == place["path"])
    #expect(ben.text(of: try id(place)) == "one\n")
  }

  @Test func aDocumentOfAPeerIsOpenedByTheURLOfItsPart() async throws {
    let host = world.start("host")
    let book = try host.create(try book(["one\n", "two\n"]))
    let ben = try await started()
    world.connect("host", "ben")
    let whole = await refusal(ben, "notes/open", ["url": .string("\(book.url)")])
    #expect(whole?.data?["kind"] == "chooseText")
    let place = try await ben.request("notes/open", ["url": .string("\(book.url)/chapters/1/body")])
    #expect(place["id"] == .string("\(book.id)"))
    #expect(ben.files[try #require(place["path"]?.stringValue)] == Array("two\n".utf8))
    #expect(await refusal(ben, "notes/open", ["url": "automerge:none"])?.code == .invalidParams)
  }

  /// Each text has a path: a hostile document must not make the paths' total length the square of its depth.
  @Test func whatLiesTooDeepIsNotOffered() async throws {
    let document = Document()
    var place = ObjId.ROOT
    for depth in 0..<20_000 {
      if depth % 50 == 0 { _ = try document.putObject(obj: place, key: "text", ty: .Text) }
      place = try document.putObject(obj: place, key: "in", ty: .Map)
    }
    let paths = await TextPlace.all(in: document).map(\.path)
    #expect(paths == [0, 50, 100].map { String(repeating: ".in", count: $0) + ".text" })
  }

  /// A buffer on a text of a document that a peer has, too; and the peer's handle.
  private func opened(
    _ document: Document, _ part: String, _ text: String
  ) async throws -> (ben: ServiceUnderTest, uri: String, theirs: DocHandle) {
    let host = world.start("host")
    let theirs = try host.create(document)
    let ben = try await started()
    world.connect("host", "ben")
    let place = try await ben.request("notes/open", ["url": .string("\(theirs.url)\(part)")])
    let uri = try #require(place["uri"]?.stringValue)
    ben.open(uri, text)
    try await ben.wait(for: "the buffer is the note's") { ben.binding(uri) != nil }
    return (ben, uri, theirs)
  }

  @Test func aTextThatAPeerDeletesWhileItIsOpenIsKeptAndToldOnce() async throws {
    let (ben, uri, theirs) = try await opened(try book(["one\n", "two\n"]), "/chapters/1/body", "two\n")
    ben.change(uri, "two and more\n", version: 2)
    try await ben.wait(for: "the words at the peer") {
      (try? chapters(of: theirs.document)) == ["one\n", "two and more\n"]
    }
    try theirs.change { document in
      try document.delete(obj: try #require(try document.lookupPath(path: "chapters")), index: 1)
    }
    try await ben.wait(for: "the news") { !ben.events("detached").isEmpty }
    let later = world.clock.now + .seconds(3)
    try await ben.wait(for: "any further news") { world.clock.now >= later }
    #expect(ben.events("detached").map { $0["reason"] } == ["textDeleted"])
    #expect(ben.events("detached")[0]["message"]?.stringValue?.hasSuffix("; it is kept as recovered") == true)
    #expect(ben.events("recovered").isEmpty)
    #expect(ben.binding(uri) == nil)
    #expect(try await ben.recoveredTexts() == ["two and more\n"])
  }

  /// Programs that assign a string instead of changing the text do this.
  @Test func aTextThatAPeerPutsInThePlaceOfTheOpenOneIsShownAndTheOldOneKept() async throws {
    let (ben, uri, theirs) = try await opened(try Document.note("milk\n"), "", "milk\n")
    try theirs.change { document in
      let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
      try document.spliceText(obj: text, start: 0, delete: 0, value: "milk, bread\n")
    }
    try await ben.wait(for: "the copy of the old text") { !ben.events("recovered").isEmpty }
    let binding = try #require(ben.binding(uri))
    #expect(String(decoding: binding.source.allUTF8, as: UTF8.self) == "milk, bread\n")
    #expect(ben.events("text").count == 1)
    #expect(ben.events("text")[0]["message"]?.stringValue?.hasPrefix("A peer put another text into ") == true)
    #expect(try await ben.recoveredTexts() == ["milk\n"])
    // What Ben types from now on is in the text that all people have.
    ben.change(uri, "milk, bread, eggs\n", version: 2, rev: binding.buffer.expectedRev)
    try await ben.wait(for: "the words at the peer") { (try? theirs.document.content()) == "milk, bread, eggs\n" }
  }

  /// It stands between two lines that one line of the other text replaces.
  @Test func aLineThatIsTypedBeforeTheOtherTextIsShownStaysALine() async throws {
    let (ben, uri, theirs) = try await opened(try Document.note("tea\nham\nend\n"), "", "tea\nham\nend\n")
    try theirs.change { document in
      let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
      try document.spliceText(obj: text, start: 0, delete: 0, value: "milk\nend\n")
    }
    try await ben.wait(for: "the other text") { !ben.events("text").isEmpty }
    ben.change(uri, "tea\neggs\nham\nend\n", version: 2)
    try await ben.wait(for: "the line at the peer") { (try? theirs.document.content())?.contains("eggs") ?? false }
    #expect(try theirs.document.content() == "eggs\nmilk\nend\n")
  }

  @Test func aTextThatAPeerChoosesWhileAnotherIsOpenIsShown() async throws {
    let (ben, uri, theirs) = try await opened(try book(["one\n", "two\n"]), "/chapters/1/body", "two\n")
    try await ben.wait(for: "the choice at the peer") { NoteDocument(theirs.document) != nil }
    try theirs.change { document in
      try NoteDocument.choose(try #require(try document.lookupPath(path: "chapters.[0].body")), in: document)
    }
    try await ben.wait(for: "the news") { !ben.events("text").isEmpty }
    let binding = try #require(ben.binding(uri))
    #expect(String(decoding: binding.source.allUTF8, as: UTF8.self) == "one\n")
    // The document has both, so nothing needs a copy.
    #expect(try chapters(of: theirs.document) == ["one\n", "two\n"])
    #expect(try await ben.recoveredTexts().isEmpty)
    #expect(ben.events("detached").isEmpty)
  }

  @Test func aTextThatIsDeletedIsChosenNoMore() throws {
    let document = try book(["one\n", "two\n"])
    let text = try #require(try document.lookupPath(path: "chapters.[1].body"))
    try NoteDocument.choose(text, in: document)
    #expect(NoteDocument(document)?.content == text)
    try document.delete(obj: try #require(try document.lookupPath(path: "chapters")), index: 1)
    #expect(NoteDocument(document) == nil)
    // A path to what is now in its place was not chosen.
    for name in ["", "1@", "4@00", "_root", String(repeating: "9", count: 40) + "@00"] {
      try document.put(
        obj: try #require(try document.get(obj: .ROOT, key: "@notes")?.object),
        key: "text", value: .String(name))
      #expect(NoteDocument(document) == nil)
    }
  }
}

extension Value {
  fileprivate var object: ObjId? { if case .Object(let object, _) = self { object } else { nil } }
}
