import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Export and import of notes as files, by the protocol and by the subcommands.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct ExchangeTests {}

extension ExchangeTests {
  private func read(_ path: String?) -> String? { path.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } }

  private func export(_ note: OpenNote, to path: String, _ format: String? = nil) throws -> String {
    let result = try note.process.request(
      "notes/export",
      .object(present: ["id": .string(note.id), "path": .string(path), "format": format.map(JSONValue.string)]))
    return try #require(result["path"]?.stringValue)
  }

  private func imported(_ path: String, into process: NotesProcess, title: String? = nil) throws -> JSONValue {
    try process.request(
      "notes/import", .object(present: ["path": .string(path), "title": title.map(JSONValue.string)]))
  }

  @Test(arguments: [("automerge", nil), ("meetingnotes", nil), ("x", "automerge"), ("md", nil), ("json", nil)])
  func aNoteThatIsExportedAndImportedElsewhereHasItsText(ending: String, format: String?) throws {
    let note = try OpenNote(text: "milk\n")
    note.client.edit(0..<0, with: "more ")
    note.client.flush()
    let path = try export(note, to: note.user.directory.file("out.\(ending)"), format)
    let other = try NotesUser("Bob")
    let process = try other.startInitialized()
    let result = try imported(path, into: process)
    #expect(read(result["path"]?.stringValue) == "more milk\n")
    // Only the envelope says which document it is.
    #expect((result["id"]?.stringValue == note.id) == (ending == "meetingnotes"))
    try process.shutdown()
    #expect(try other.storedText(of: result["id"]?.stringValue ?? "") == "more milk\n")
  }

  @Test(arguments: ["automerge", "meetingnotes", "automerge-repo"])
  func whatIsTypedJustBeforeAnExportIsStoredAllTheSame(format: String) throws {
    let note = try OpenNote(text: "milk\n")
    for number in 0..<10 {
      note.client.edit(0..<0, with: "\(number)\n")
      note.client.flush()
      _ = try export(note, to: note.user.directory.file("out\(number)"), format)
    }
    try note.process.waitFor("it is stored") {
      try note.process.request("notes/status", ["uri": .string(note.client.uri)])["stored"] == true
    }
    try note.process.kill()
    #expect(try note.user.storedText(of: note.id) == note.client.text.string)
  }

  @Test func aDirectoryOfDocumentsGoesOutAndComesIn() throws {
    let note = try OpenNote(text: "milk\n")
    let folder = note.user.directory.file("repo")
    let path = try export(note, to: folder, "automerge-repo")
    #expect(path.hasPrefix("\(folder)/\(note.id.prefix(2))/\(note.id.dropFirst(2))/snapshot/"))
    // A file that does not belong there, and a damaged chunk.
    try Data("x".utf8).write(to: URL(filePath: folder + "/README"))
    try Data([1, 2, 3]).write(to: URL(filePath: (path as NSString).deletingLastPathComponent + "/damaged"))
    let other = try NotesUser("Bob")
    let process = try other.startInitialized()
    let result = try imported(folder, into: process)
    #expect(result["id"]?.stringValue == note.id)
    #expect(result["notes"]?.arrayValue?.count == 1)
    #expect(read(result["path"]?.stringValue) == "milk\n")
    #expect(result["skipped"] == nil && result["leftOut"] == "a damaged part of the file")
    // A document of the directory that is no note, here because nothing of it can be read, is counted.
    try FileManager.default.createDirectory(
      atPath: "\(folder)/3B/wAK2fZ3Nrgn9HRBb9yvNx9xXKX/snapshot", withIntermediateDirectories: true)
    let skipping = try imported(folder, into: process)
    #expect(skipping["skipped"] == 1 && skipping["warning"] == "Left out a damaged part of the file")
    // Without the damaged chunk, it is also said.
    try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent + "/damaged")
    let intact = try imported(folder, into: process)
    #expect(intact["skipped"] == 1 && intact["warning"] == "Left out 1 other document of the directory: not a note")
    let empty = try other.directory.directory("empty")
    #expect(try process.refusal("notes/import", ["path": .string(empty)])?.kind == "notFound")
  }

  @Test func aFolderOfFilesComesInAndWhatCannotIsNamed() throws {
    let note = try OpenNote(text: "milk\n")
    let folder = try note.user.directory.directory("old")
    for (name, text) in [("Tea.md", "green\n"), ("Cake.txt", "plum\n"), ("run.sh", "exit\n")] {
      try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
    }
    try Data([0x61, 0, 0xff]).write(to: URL(filePath: folder + "/broken.md"))
    _ = try note.user.directory.directory("old/inner.md")
    // The folder's author could choose any file of this person.
    let secret = note.user.directory.file("secret.md")
    try Data("password\n".utf8).write(to: URL(filePath: secret))
    try FileManager.default.createSymbolicLink(atPath: folder + "/link.md", withDestinationPath: secret)
    try FileManager.default.createSymbolicLink(atPath: folder + "/Plum.txt", withDestinationPath: "Cake.txt")
    let result = try imported(folder, into: note.process)
    let texts = result["notes"]?.arrayValue?.compactMap { read($0["path"]?.stringValue) }
    #expect(texts == ["plum\n", "plum\n", "green\n"])
    let failed = result["failed"]?.arrayValue ?? []
    #expect(failed.map { $0["path"] } == ["broken.md", "inner.md", "link.md"].map { .string(folder + "/" + $0) })
    #expect(failed.map { $0["message"]?.stringValue?.contains("import") } == [false, true, true], "\(failed)")
    // The files of the person's own notes are notes already.
    #expect(try note.process.refusal("notes/import", ["path": .string(note.user.notes)])?.kind == "notFound")
    #expect(try note.process.request("notes/list")["notes"]?.arrayValue?.count == 4)
    // The command line does the same.
    let other = try NotesUser("Bob")
    let command = [try #require(NotesBinary.path), "import", folder, "--home", other.home, "--notes", other.notes]
    let (exit, output, errorOutput) = try ChildProcess.run(command)
    let problems = String(decoding: errorOutput, as: UTF8.self)
    #expect(exit == .code(1))
    #expect(problems.contains("broken.md: ") && problems.contains("3 of 6 files were not imported"), "\(problems)")
    #expect(String(decoding: output, as: UTF8.self).split(separator: "\n").count == 3)
  }

  @Test func aFileInTheFolderOfTheNotesBecomesANoteWhereItIs() throws {
    let note = try OpenNote(text: "milk\n")
    for (name, text) in [("Tea.md", "green\n"), ("Cake.txt", "plum\n")] {
      try Data(text.utf8).write(to: URL(filePath: note.user.notes + "/" + name))
    }
    let names = Set(try FileManager.default.contentsOfDirectory(atPath: note.user.notes))
    // As it is written by a person who is in the folder.
    let result = try imported(note.user.notes + "/.", into: note.process)
    let paths = ["/Cake.txt", "/Tea.md"].map { JSONValue.string(note.user.notes + $0) }
    #expect(result["failed"] == nil)
    #expect(result["notes"]?.arrayValue?.map { $0["path"] } == paths)
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: note.user.notes)) == names)
    let listed = try note.process.request("notes/list")["notes"]?.arrayValue
    #expect(listed?.count == 3)
    #expect(try note.process.refusal("notes/import", ["path": .string(note.user.notes + "/.")])?.kind == "notFound")
    let outside = note.user.notes + "/../Outside.md"
    try Data("bread\n".utf8).write(to: URL(filePath: outside))
    let copy = try imported(outside, into: note.process)["path"]?.stringValue
    #expect(copy == note.user.notes + "/Outside.md" && read(copy) == "bread\n")
    #expect(listed?.compactMap { $0["title"]?.stringValue }.contains("Tea") == true)
    #expect(
      try note.process.refusal("notes/import", ["path": .string(note.user.notes + "/Tea.md")])?.kind == "alreadyANote")
  }

  @Test func anotherCopyOfTheSameDocumentIsMerged() throws {
    let note = try OpenNote(text: "milk\n")
    let copy = try export(note, to: note.user.directory.file("a.meetingnotes"))
    let other = try NotesUser("Bob")
    let process = try other.startInitialized()
    let theirs = try ModelClient(process, note: try imported(copy, into: process))
    theirs.edit(0..<0, with: "theirs ")
    theirs.flush()
    note.client.edit(5..<5, with: "ours\n")
    note.client.flush()
    let back = other.directory.file("b.meetingnotes")
    try process.request("notes/export", ["id": .string(note.id), "path": .string(back)])
    let merged = try note.process.request("notes/merge", ["uri": .string(note.client.uri), "path": .string(back)])
    // Two changes: Bob's entry as an author, and his words.
    #expect(merged["changes"] == 2)
    try ModelClient.waitForConvergence([note.client])
    #expect(note.client.text.string == "theirs milk\nours\n")
    let again = try note.process.request("notes/merge", ["uri": .string(note.client.uri), "path": .string(back)])
    #expect(again["changes"] == 0)
    // Importing a file of a document that is already here does the same.
    #expect(try imported(back, into: note.process)["id"]?.stringValue == note.id)
    // Without an id, the common history identifies the document.
    let raw = other.directory.file("b.automerge")
    try process.request("notes/export", ["id": .string(note.id), "path": .string(raw)])
    #expect(try note.process.request("notes/merge", ["id": .string(note.id), "path": .string(raw)])["changes"] == 0)
    expectNoComplaints(note.client)
  }

  @Test(arguments: ["automerge", "meetingnotes", "md", "json"]) func aStrangersDocumentIsNotMerged(ending: String)
    throws
  {
    let note = try OpenNote(text: "milk\n")
    let stranger = try note.process.request("notes/create", ["title": "Other", "text": "other\n"])
    let path = note.user.directory.file("other.\(ending)")
    try note.process.request("notes/export", ["id": stranger["id"] ?? .null, "path": .string(path)])
    let refusal = try note.process.refusal("notes/merge", ["id": .string(note.id), "path": .string(path)])
    #expect(refusal?.kind == "noSharedHistory")
    #expect(note.client.text.string == "milk\n")
  }

  @Test(arguments: ["no/such/out.md", "no/such/repo/"]) func anExportMakesNoFolderThatIsMissing(name: String) throws {
    let note = try OpenNote(text: "milk\n")
    let path = note.user.directory.file(name)
    let refusal = try note.process.refusal(
      "notes/export",
      ["id": .string(note.id), "path": .string(path), "format": name.hasSuffix("/") ? "automerge-repo" : "markdown"])
    #expect(refusal?.kind == "notFound")
    #expect(refusal?.message == "There is no folder \(note.user.directory.file("no/such")).")
    #expect(!FileManager.default.fileExists(atPath: note.user.directory.file("no")))
  }

  @Test func aFileThatIsThereIsOnlyReplacedOnRequest() throws {
    let note = try OpenNote(text: "milk\n")
    let target = note.user.directory.file("target.md")
    let path = note.user.directory.file("out.md")
    try "precious".write(toFile: target, atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let params: JSONValue = ["id": .string(note.id), "path": .string(path)]
    #expect(try note.process.refusal("notes/export", params)?.kind == "conflict")
    #expect(read(target) == "precious")
    try note.process.request(
      "notes/export", ["id": .string(note.id), "path": .string(path), "replace": true])
    // The export replaced the link, not its target.
    #expect(read(target) == "precious")
    #expect(read(path) == "milk\n")
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeRegular)
  }

  @Test func whatCannotBeImportedIsRefusedByKind() throws {
    let note = try OpenNote(text: "milk\n")
    func refusal(_ bytes: [UInt8]) throws -> String? {
      let path = note.user.directory.file("in")
      try Data(bytes).write(to: URL(filePath: path))
      return try note.process.refusal("notes/import", ["path": .string(path)])?.kind
    }
    #expect(try refusal([0x61, 0, 0x62]) == "notText")
    #expect(try refusal([0x61, 0xC3]) == "notText")
    #expect(try refusal([0x85, 0x6F, 0x4A, 0x83, 1, 2]) == "notANote")
    #expect(try refusal(Array("{\"a\": 1}".utf8)) == "notANote")
    #expect(try note.process.refusal("notes/import", ["path": "/nowhere/at/all"])?.kind == "notFound")
    #expect(try note.process.refusal("notes/import", ["path": "relative"])?.code == -32602)
    #expect(try note.process.request("notes/list")["notes"]?.arrayValue?.count == 1)
  }

  @Test func aNoteThatWasRemovedForGoodComesBackFromAFile() throws {
    let note = try OpenNote(text: "milk\n")
    let path = try export(note, to: note.user.directory.file("a.meetingnotes"))
    try note.process.request("notes/delete", ["id": .string(note.id)])
    try note.process.request("notes/purge", ["id": .string(note.id)])
    let back = try imported(path, into: note.process)
    #expect(back["id"]?.stringValue == note.id)
    try note.process.shutdown()
    let again = try note.user.startInitialized()
    #expect(read(try again.request("notes/open", ["id": .string(note.id)])["path"]?.stringValue) == "milk\n")
  }

  @Test func commandsWorkBesideAnEditorThatSeesWhatTheyDo() throws {
    let note = try OpenNote(text: "milk\n")
    let file = note.user.directory.file("copy.automerge")
    #expect(try note.user.run(["export", "Shopping", file]).exit == .code(0))
    #expect(try note.user.run(["export", "Shopping", file]).exit == .code(1), "it is there already")
    let other = try NotesUser("Bob")
    let imported = try other.run(["import", file, "--title", "Groceries", "--json"])
    #expect(imported.exit == .code(0))
    let place = try JSONValue(parsing: imported.output)
    #expect(place["path"]?.stringValue?.hasSuffix("/Groceries.md") == true)
    let path = try #require(place["path"]?.stringValue)
    try "milk\neggs\n".write(toFile: path, atomically: true, encoding: .utf8)
    let back = other.directory.file("back.automerge")
    #expect(try other.run(["rename", "Groceries", "Eggs"]).output.hasSuffix("/Eggs.md\n"))
    #expect(try other.run(["export", "eggs", back]).exit == .code(0))
    #expect(try note.user.run(["merge", "Shopping", back]).exit == .code(0))
    try ModelClient.waitForConvergence([note.client])
    try note.process.waitFor("the merged text") { note.client.text.string == "milk\neggs\n" }
    #expect(try note.user.run(["new", "From outside"]).output.hasSuffix("/From outside.md\n"))
    try note.process.waitFor("the new note") {
      try note.process.request("notes/list")["notes"]?.arrayValue?.contains { $0["title"] == "From outside" } ?? false
    }
    #expect(try note.user.run(["rm", "From outside"]).exit == .code(0))
    #expect(try note.user.run(["rm", "From outside"]).exit == .code(1))
    expectNoComplaints(note.client)
  }
}
