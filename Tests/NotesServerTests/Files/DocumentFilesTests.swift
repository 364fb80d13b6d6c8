import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import NotesServer

/// Files of MeetingNotes that a person opens in an editor: the service keeps file and note equal.
@AutomergeRepo struct DocumentFilesTests {
  /// A service whose person has opened `/mail/weekly.meetingnotes`, a meeting with the item "Tea", as MeetingNotes has written it.
  @AutomergeRepo
  struct OpenedFile {
    let folders = MemoryFolders()
    let path = "/mail/weekly.meetingnotes"
    let service: ServiceUnderTest
    let id: DocumentId
    /// The document of the program that wrote the file.
    let other: Document
    let place: JSONValue

    init(seed: UInt64) async throws {
      service = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: seed))))
      try await service.start(watching: folders)
      other = Document(textEncoding: .utf8)
      _ = try MeetingDocument(
        new: other,
        MeetingContent(
          title: "Weekly", attendees: ["Ana"], agendas: [.init(id: "1", title: "Tea", discussion: "green\n")]))
      let bytes = [UInt8](0..<16)
      id = try #require(DocumentId(bytes: bytes))
      service.files[path] = Self.file(bytes, other)
      place = try await service.request("notes/open", ["path": .string(path)])
    }

    /// The envelope with the id under tag 37, as MeetingNotes writes a UUID.
    static func file(_ id: [UInt8], _ document: Document) -> [UInt8] {
      CBOR.record(["id": .tagged(37, .bytes(Data(id))), "data": .bytes(document.fork().save())]).encoded()
    }

    /// The other program saves the file.
    func save() {
      service.files[path] = Self.file([UInt8](0..<16), other)
      folders.changed(path)
    }

    /// The content of the file, as the other program reads it.
    var content: MeetingContent? {
      service.files[path].flatMap { MeetingNotesFile($0) }.flatMap { try? Document($0.data) }.flatMap {
        MeetingDocument($0)?.content
      }
    }

    var titles: [String]? { content?.agendas.map(\.title) }

    func change(_ body: (MeetingDocument) throws -> Void) async throws {
      let handle = try await service.handle(of: id)
      try handle.change { document in if let meeting = MeetingDocument(document) { try body(meeting) } }
    }

    func changeOutside(_ body: (MeetingDocument) throws -> Void) throws {
      try body(try #require(MeetingDocument(other)))
    }

    /// The other program writes the file once, just before the service does.
    func writesLate(_ late: [UInt8]) {
      let (files, path) = (service.files, path)
      let isFirst = Mutex(true)
      files.onReplace.withLock {
        $0 = { replaced in
          let isNow = isFirst.withLock { value in
            defer { value = value && replaced != path }
            return value && replaced == path
          }
          if isNow { files[path] = late }
        }
      }
    }

    /// As its program left it when the power failed: with "Pie", and a part of "Nuts".
    func fileWhoseLastChangeIsCut() throws -> [UInt8] {
      try changeOutside { try $0.insert(.init(id: "2", title: "Pie", discussion: ""), at: 5) }
      let saved = other.save()
      try changeOutside { try $0.insert(.init(id: "3", title: "Nuts", discussion: ""), at: 5) }
      let data = saved + other.encodeNewChanges().dropLast(2)
      return CBOR.record(["id": .tagged(37, .bytes(Data(0..<16))), "data": .bytes(data)]).encoded()
    }

    func items() async throws -> [String?] {
      let answer = try await service.request("notes/items", ["id": .string(id.description)])
      return answer["items"]?.arrayValue?.map { $0["title"]?.stringValue } ?? []
    }

    var messages: [String] {
      service.sent.filter { $0["method"] == "window/showMessage" }.compactMap { $0["params"]?["message"]?.stringValue }
    }
  }

  @Test func aFileThatIsOpenedIsTheMeeting() async throws {
    let file = try await OpenedFile(seed: 1)
    #expect(file.place["id"]?.stringValue == file.id.description)
    #expect(file.place["items"]?[0]?["path"] == "/notes/Weekly/Tea.md")
    #expect(file.service.files["/notes/Weekly/Tea.md"] == Array("green\n".utf8))
    // The service does not write it without need.
    let before = file.service.files[file.path]
    try await file.service.pass(.seconds(3))
    #expect(file.service.files[file.path] == before)
  }

  @Test func aFileThatIsMissingIsMadeOnlyOnRequestAndOnce() async throws {
    let file = try await OpenedFile(seed: 21)
    let path = "/mail/Monthly.meetingnotes"
    await #expect(throws: (any Error).self) {
      _ = try await file.service.request("notes/open", ["path": .string(path)])
    }
    #expect(file.service.files[path] == nil)
    let first = try await file.service.request("notes/open", ["path": .string(path), "create": true])
    let saved = try #require(file.service.files[path].flatMap { MeetingNotesFile($0) })
    #expect(try MeetingDocument(Document(saved.data))?.content.title == "Monthly")
    let second = try await file.service.request("notes/open", ["path": .string(path), "create": true])
    #expect(first["id"] != nil && first["id"] == second["id"])
  }

  @Test func whatIsAddedToTheMeetingIsInTheFileAMomentLater() async throws {
    let file = try await OpenedFile(seed: 2)
    let added = try await file.service.request(
      "notes/addItem", ["id": .string(file.id.description), "title": "Cake", "text": "apple\n"])
    try await file.service.wait(for: "the item in the file") { file.titles == ["Tea", "Cake"] }
    let uri = try #require(added["uri"]?.stringValue)
    file.service.open(uri, "apple\n")
    try await file.service.wait(for: "the note") { file.service.binding(uri) != nil }
    file.service.change(uri, "apple\nplum\n", version: 2)
    try await file.service.wait(for: "the words in the file") {
      file.content?.agendas.last?.discussion == "apple\nplum\n"
    }
    // The file keeps the form that its program gave it.
    let cbor = try CBOR(try #require(file.service.files[file.path]), limits: .stored.keepingTags)
    #expect(cbor["id"] == .tagged(37, .bytes(Data(0..<16))))
  }

  @Test func whatAnotherProgramSavesIsInTheMeeting() async throws {
    let file = try await OpenedFile(seed: 3)
    let uri = "file:///notes/Weekly/Tea.md"
    file.service.open(uri, "green\n")
    try await file.service.wait(for: "the note") { file.service.binding(uri) != nil }
    file.service.change(uri, "hot green\n", version: 2)
    try file.changeOutside { meeting in
      try meeting.insert(.init(id: "2", title: "Pie", discussion: "cherry\n"), at: 0)
      let tea = try #require(meeting.item("1")?.discussion)
      try file.other.spliceText(obj: tea, utf8Offset: 6, deleteUTF8: 0, insert: Array("black\n".utf8))
    }
    file.save()
    try await file.service.wait(for: "both in the file") {
      file.titles == ["Pie", "Tea"] && file.content?.agendas.last?.discussion == "hot green\nblack\n"
    }
    #expect(try await file.items() == ["Pie", "Tea"])
    try await file.service.wait(for: "the item's file") {
      file.service.files["/notes/Weekly/Pie.md"] == Array("cherry\n".utf8)
    }
    try await file.service.wait(for: "the words in the editor") {
      file.service.sent.contains {
        $0["method"] == "notes/edit" && $0["params"]?["edits"]?[0]?["newText"] == "black\n"
      }
    }
    #expect(file.messages == [])
  }

  @Test func whatIsSavedBetweenReadingAndWritingIsMerged() async throws {
    let file = try await OpenedFile(seed: 4)
    try file.changeOutside { try $0.insert(.init(id: "2", title: "Pie", discussion: ""), at: 5) }
    file.writesLate(OpenedFile.file([UInt8](0..<16), file.other))
    try await file.change { try $0.insert(.init(id: "3", title: "Cake", discussion: ""), at: 5) }
    try await file.service.wait(for: "all three") { Set(file.titles ?? []) == ["Tea", "Pie", "Cake"] }
    #expect(Set(try await file.items()) == ["Tea", "Pie", "Cake"])
  }

  @Test func aFileThatIsDamagedBetweenReadingAndWritingIsPutBack() async throws {
    let file = try await OpenedFile(seed: 24)
    let cut = try file.fileWhoseLastChangeIsCut()
    file.writesLate(cut)
    try await file.change { try $0.insert(.init(id: "4", title: "Cake", discussion: ""), at: 5) }
    try await file.service.wait(for: "the warning") { !file.messages.isEmpty }
    try await file.service.pass(.seconds(3))
    #expect(file.service.files[file.path] == cut)
    #expect(file.messages == ["weekly.meetingnotes cannot be read whole; left as it is"])
    #expect(Set(try await file.items()) == ["Tea", "Pie", "Cake"])
  }

  @Test func aDamagedFileIsLeftAlone() async throws {
    let file = try await OpenedFile(seed: 5)
    var damaged = try #require(file.service.files[file.path])
    damaged[damaged.count - 1] ^= 1
    file.service.files[file.path] = damaged
    try await file.change { try $0.insert(.init(id: "3", title: "Cake", discussion: ""), at: 5) }
    try await file.service.wait(for: "the warning") { !file.messages.isEmpty }
    #expect(file.messages == ["weekly.meetingnotes is damaged; left as it is"])
    try await file.change { try $0.insert(.init(id: "4", title: "Pie", discussion: ""), at: 5) }
    try await file.service.pass(.seconds(3))
    #expect(file.service.files[file.path] == damaged)
    #expect(file.messages.count == 1)
    // Its program saves it again.
    file.save()
    try await file.service.wait(for: "all in the file") { file.titles == ["Tea", "Cake", "Pie"] }
  }

  @Test func aFileThatIsDamagedInPartIsMergedButNotWritten() async throws {
    let file = try await OpenedFile(seed: 22)
    let cut = try file.fileWhoseLastChangeIsCut()
    file.service.files[file.path] = cut
    file.folders.changed(file.path)
    try await file.service.wait(for: "the warning") { !file.messages.isEmpty }
    #expect(file.messages == ["weekly.meetingnotes cannot be read whole; left as it is"])
    #expect(try await file.items() == ["Tea", "Pie"])
    try await file.change { try $0.insert(.init(id: "4", title: "Cake", discussion: ""), at: 5) }
    try await file.service.pass(.seconds(3))
    #expect(file.service.files[file.path] == cut)
    #expect(file.messages.count == 1)
    // Its program saves it again.
    file.save()
    try await file.service.wait(for: "all in the file") { Set(file.titles ?? []) == ["Tea", "Pie", "Nuts", "Cake"] }
  }

  @Test func importingAndMergingTellWhatOfTheFileCouldNotBeRead() async throws {
    let file = try await OpenedFile(seed: 23)
    let path: JSONValue = "/mail/copy.meetingnotes"
    let cut = try file.fileWhoseLastChangeIsCut()
    file.service.files["/mail/copy.meetingnotes"] = cut
    let merged = try await file.service.request("notes/merge", ["path": path, "id": .string(file.id.description)])
    #expect(merged["leftOut"] == "a damaged part of the file")
    #expect(merged["message"] == "Merged 1 new change; left out a damaged part")
    let imported = try await file.service.request("notes/import", ["path": path])
    #expect(imported["leftOut"] == "a damaged part of the file" && imported["changes"] == 0)
    #expect(imported["warning"] == "Left out a damaged part of the file")
    file.service.files["/mail/copy.meetingnotes"] = OpenedFile.file([UInt8](0..<16), file.other)
    let whole = try await file.service.request("notes/merge", ["path": path, "id": .string(file.id.description)])
    #expect(whole["leftOut"] == nil && whole["message"] == "Merged 1 new change")
    #expect(try await file.items() == ["Tea", "Pie", "Nuts"])
  }

  @Test func aFileThatNowHoldsAnotherDocumentIsLeftAlone() async throws {
    let file = try await OpenedFile(seed: 6)
    let another = OpenedFile.file([UInt8](repeating: 7, count: 16), file.other)
    file.service.files[file.path] = another
    try await file.change { try $0.insert(.init(id: "3", title: "Cake", discussion: ""), at: 5) }
    try await file.service.wait(for: "the warning") { !file.messages.isEmpty }
    #expect(file.messages == ["weekly.meetingnotes has another document now; left as it is"])
    try await file.service.pass(.seconds(3))
    #expect(file.service.files[file.path] == another)
    #expect(try await file.items() == ["Tea", "Cake"])
  }

  @Test func whatAnotherProgramWroteAtTheLastMomentStaysThoughTheStoreTakesNothing() async throws {
    let file = try await OpenedFile(seed: 24)
    let another = OpenedFile.file([UInt8](repeating: 7, count: 16), file.other)
    file.writesLate(another)
    let store = try #require(file.service.world.stores["ben"])
    store.failSaves(1000, of: NoteRecord.collection)
    try await file.change { try $0.insert(.init(id: "3", title: "Cake", discussion: ""), at: 5) }
    try await file.service.wait(for: "the file") { file.service.files[file.path] == another }
    try await file.service.pass(.seconds(12))
    #expect(file.service.files[file.path] == another)
    store.failSaves(0)
    try await file.service.wait(for: "the record") {
      file.service.service.notebook[file.id]?.documentFiles.isEmpty ?? false
    }
    #expect(file.service.files[file.path] == another)
  }

  /// A former guest knows the id of a note, and can send a file with this id and any document.
  @Test func aFileThatNamesANoteAndHoldsAnotherDocumentChangesNothing() async throws {
    let file = try await OpenedFile(seed: 11)
    let (forged, path) = (Document(textEncoding: .utf8), "/mail/letter.meetingnotes")
    // Of two values of one key, the one with more operations before it wins.
    for number in 0..<100 { try forged.put(obj: .ROOT, key: "filling", value: .Int(Int64(number))) }
    _ = try MeetingDocument(
      new: forged,
      MeetingContent(title: "Taken", attendees: [], agendas: [.init(id: "1", title: "Evil", discussion: "pay!\n")]))
    file.service.files[path] = OpenedFile.file([UInt8](0..<16), forged)
    for (method, params) in [
      ("notes/open", ["path": .string(path)]), ("notes/import", ["path": .string(path)]),
      ("notes/merge", ["path": .string(path), "id": .string(file.id.description)]),
    ] as [(String, JSONValue)] {
      let refused = await #expect(throws: ResponseError.self) { try await file.service.request(method, params) }
      #expect(refused?.data?["kind"] == "noSharedHistory", "\(method)")
    }
    // The same, in place of a file that is open.
    file.service.files[file.path] = OpenedFile.file([UInt8](0..<16), forged)
    file.folders.changed(file.path)
    try await file.service.wait(for: "the message") { !file.messages.isEmpty }
    #expect(try await file.items() == ["Tea"])
    // A copy of the meeting itself is merged.
    let copy = try await file.service.handle(of: file.id).document.fork()
    try MeetingDocument(copy)?.insert(.init(id: "2", title: "Pie", discussion: ""), at: 1)
    file.service.files[path] = OpenedFile.file([UInt8](0..<16), copy)
    #expect(try await file.service.request("notes/import", ["path": .string(path)])["known"] == true)
    #expect(try await file.items() == ["Tea", "Pie"])
  }

  /// An attachment of an email: titles and ids that would be paths, missing ids, equal ids, and a document that is not
  /// a meeting.
  @Test func aForeignFileMakesFilesInTheNotesDirectoryOnly() async throws {
    let file = try await OpenedFile(seed: 13)
    let names = [
      "../../etc/passwd", "/etc/passwd", "..", "", "a\u{0}b", "+!rm", "~/.vimrc", String(repeating: "漢", count: 900),
    ]
    for (number, name) in names.enumerated() {
      let (foreign, path) = (Document(textEncoding: .utf8), "/mail/letter\(number).meetingnotes")
      let items = names.map { MeetingContent.Item(id: $0, title: $0, discussion: "x\n") }
      _ = try MeetingDocument(new: foreign, MeetingContent(title: name, attendees: names, agendas: items + items))
      file.service.files[path] = OpenedFile.file([UInt8](repeating: UInt8(number + 1), count: 16), foreign)
      _ = try await file.service.request("notes/open", ["path": .string(path)])
    }
    for bytes in [[], [0xA2], Array(repeating: 0x81, count: 100_000), Array("{\"agendas\":[{}]}".utf8)] as [[UInt8]] {
      file.service.files["/mail/none.meetingnotes"] = bytes
      _ = try? await file.service.request("notes/open", ["path": "/mail/none.meetingnotes"])
      _ = try? await file.service.request("notes/import", ["path": "/mail/none.meetingnotes"])
    }
    try await file.service.pass(.seconds(3))
    let made = file.service.files.paths.filter { !$0.hasPrefix("/mail/") }
    #expect(made.filter { !$0.hasPrefix("/notes/") || $0.split(separator: "/").contains("..") } == [])
    #expect(made.allSatisfy { $0.split(separator: "/").allSatisfy { $0.utf8.count <= FileName.maximumUTF8 } })
    // The honest note is unharmed.
    #expect(try await file.items() == ["Tea"])
  }

  @Test func aFileDoesNotChangeANoteThatMayOnlyBeRead() async throws {
    let file = try await OpenedFile(seed: 12)
    let copy = try await file.service.handle(of: file.id).document.fork()
    let path = "/mail/copy.meetingnotes"
    file.service.files[path] = OpenedFile.file([UInt8](0..<16), copy)
    file.service.sharing.access = .read
    // A copy without anything new is the note itself.
    #expect(try await file.service.request("notes/import", ["path": .string(path)])["changes"] == 0)
    try MeetingDocument(copy)?.insert(.init(id: "2", title: "Pie", discussion: ""), at: 1)
    file.service.files[path] = OpenedFile.file([UInt8](0..<16), copy)
    let refused = await #expect(throws: ResponseError.self) {
      try await file.service.request("notes/import", ["path": .string(path)])
    }
    #expect(refused?.data?["kind"] == "readOnly")
    #expect(try await file.items() == ["Tea"])
  }

  @Test func aRemovedFileComesBackWithTheNextSave() async throws {
    let file = try await OpenedFile(seed: 7)
    let uri = "file:///notes/Weekly/Tea.md"
    file.service.open(uri, "green\n")
    try await file.service.wait(for: "the note") { file.service.binding(uri) != nil }
    file.service.files[file.path] = nil
    file.service.change(uri, "hot green\n", version: 2)
    try await file.service.pass(.seconds(3))
    #expect(file.service.files[file.path] == nil)
    file.service.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    try await file.service.wait(for: "the file") { file.content?.agendas.first?.discussion == "hot green\n" }
  }

  @Test func aFullDiskIsSaidOnceAndTheFileWrittenLater() async throws {
    let file = try await OpenedFile(seed: 8)
    file.service.files.isFull.withLock { $0 = true }
    try await file.change { try $0.insert(.init(id: "3", title: "Cake", discussion: ""), at: 5) }
    try await file.service.wait(for: "the warning") { !file.messages.isEmpty }
    #expect(file.messages == ["weekly.meetingnotes could not be written; trying again"])
    try await file.service.pass(.seconds(12))
    #expect(file.messages.count == 1)
    file.service.files.isFull.withLock { $0 = false }
    try await file.service.wait(for: "the file") { file.titles == ["Tea", "Cake"] }
  }

  @Test func whatMayNotBeChangedHereStaysInTheFile() async throws {
    let file = try await OpenedFile(seed: 9)
    file.service.sharing.access = .read
    try file.changeOutside { try $0.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0) }
    file.save()
    try await file.service.wait(for: "the warning") { !file.messages.isEmpty }
    #expect(file.titles == ["Pie", "Tea"])
    #expect(try await file.items() == ["Tea"])
  }

  @Test func theNextServiceKnowsTheFile() async throws {
    let file = try await OpenedFile(seed: 10)
    file.service.send("shutdown", [:], id: 2)
    try await file.service.wait(for: "the end") { file.service.sent.contains { $0["id"] == 2 } }
    file.service.world.crash("ben")
    let next = ServiceUnderTest(file.service.world, files: file.service.files)
    let folders = MemoryFolders()
    try await next.start(watching: folders)
    #expect(folders.watched.contains("/mail"))
    // The meeting has what its program saved while no service ran.
    try file.changeOutside { try $0.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0) }
    file.save()
    _ = try await next.request("notes/open", ["id": .string(file.id.description)])
    let id = file.id
    try await next.wait(for: "the item") { next.service.notebook[id]?.agenda.map(\.title) == ["Pie", "Tea"] }
  }
}
