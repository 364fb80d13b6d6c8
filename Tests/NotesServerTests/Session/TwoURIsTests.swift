import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// One note under two URIs in one editor, as when the person opens a symbolic link to its file, and the file itself.
@AutomergeRepo struct TwoURIsTests {
  private let path = "/notes/Shopping.md"
  private let uris = ["file:///notes/Shopping.md", "file://localhost/notes/Shopping.md"]

  private static let plainClient: JSONValue = ["initializationOptions": ["applyEdits": true]]

  private func opened(
    seed: UInt64, hasPlugin: Bool = true, journal: any JournalAccess = NoJournal()
  ) async throws -> (ServiceUnderTest, [ClientBuffer], DocumentId) {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    let ana = ServiceUnderTest(world, "ana", journal: journal)
    try await ana.start(watching: MemoryFolders(), client: hasPlugin ? ServiceUnderTest.plugin : Self.plainClient)
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\nmilk\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    try await ana.wait(for: "quiet") { !ana.service.fileSync.isPlanned(id) }
    let buffers = uris.map { ClientBuffer($0, "tea\nmilk\n", in: ana) }
    for uri in uris { try await ana.wait(for: uri) { ana.binding(uri) != nil } }
    try await ana.wait(for: "the first look") { !ana.service.openFiles.isBusy(NoteKey(id)) }
    return (ana, buffers, id)
  }

  private func settle(_ buffers: [ClientBuffer]) async throws {
    var quiet = 0
    while quiet < 3 {
      quiet = buffers.contains(where: \.hasMail) ? 0 : quiet + 1
      while buffers.contains(where: \.hasMail) { for buffer in buffers { buffer.readMessage() } }
      try await buffers[0].service.pass(.seconds(1))
    }
  }

  @Test(arguments: [true, false])
  func whatIsTypedUnderOneReachesTheOther(hasPlugin: Bool) async throws {
    let (ana, buffers, id) = try await opened(seed: 1, hasPlugin: hasPlugin)
    buffers[0].replace(0..<0, "bread\n")
    buffers[1].replace(4..<8, "eggs")
    try await settle(buffers)
    #expect(ana.text(of: id) == "bread\ntea\neggs\n")
    #expect(buffers.map(\.string) == ["bread\ntea\neggs\n", "bread\ntea\neggs\n"])
  }

  @Test(arguments: [true, false], 1...SeedCount.of(8))
  func anyOrderOfEditsLeavesBothBuffersTheNoteAndTheFileEqual(hasPlugin: Bool, seed: Int) async throws {
    let (ana, buffers, id) = try await opened(seed: UInt64(seed), hasPlugin: hasPlugin)
    var generator = SeededGenerator(seed: UInt64(seed))
    var typed: [Character: Bool] = [:]
    for step in 0..<200 {
      let buffer = buffers[Int.random(in: 0...1, using: &generator)]
      guard Bool.random(using: &generator) else {
        buffer.readMessage()
        continue
      }
      // A client without a plugin applies an edit as soon as it gets it: what it answers later is only guessed at.
      while !hasPlugin, buffer.hasMail { buffer.readMessage() }
      let start = Int.random(in: 0...buffer.text.count, using: &generator)
      let end = min(buffer.text.count, start + Int.random(in: 0...2, using: &generator))
      for letter in buffer.text[start..<end] { typed[letter]? = false }
      let letter = Character(Unicode.Scalar(0x4E00 + UInt32(step)) ?? "x")
      typed[letter] = true
      buffer.replace(start..<end, String(letter) + (step % 7 == 0 ? "\n" : ""))
    }
    try await settle(buffers)
    let text = try #require(ana.text(of: id))
    #expect(buffers.map(\.string) == [text, text], "seed \(seed)")
    for (letter, isThere) in typed {
      #expect(text.count { $0 == letter } == (isThere ? 1 : 0), "\(letter), seed \(seed)")
    }
    buffers[0].close()
    // The other still follows.
    buffers[1].replace(0..<0, "last\n")
    try await settle(buffers)
    buffers[1].close()
    let last = "last\n" + text
    try await ana.wait(for: "the file") { ana.files[path].map { String(decoding: $0, as: UTF8.self) } == last }
    #expect(ana.text(of: id) == last)
  }

  @Test(arguments: [true, false])
  func whatAnotherProgramWritesReachesBothOnce(hasPlugin: Bool) async throws {
    let (ana, buffers, id) = try await opened(seed: 2, hasPlugin: hasPlugin)
    buffers[0].replace(0..<0, "bread\n")
    ana.files.write(path, "tea\nmilk\neggs\n")
    ana.service.fileChanged(path)
    try await ana.wait(for: "the line") { ana.text(of: id) == "bread\ntea\nmilk\neggs\n" }
    try await settle(buffers)
    #expect(ana.text(of: id) == "bread\ntea\nmilk\neggs\n")
    #expect(buffers.map(\.string) == ["bread\ntea\nmilk\neggs\n", "bread\ntea\nmilk\neggs\n"])
  }

  @Test(arguments: 0...1)
  func theOtherKeepsTheFileWhenOneIsClosed(closed: Int) async throws {
    let (ana, buffers, id) = try await opened(seed: 3)
    buffers[closed].close()
    ana.files.write(path, "tea\nmilk\neggs\n")
    ana.service.fileChanged(path)
    let other = buffers[1 - closed]
    try await ana.wait(for: "the line") { ana.text(of: id) == "tea\nmilk\neggs\n" }
    try await settle([other])
    #expect(ana.service.isOpen(id))
    #expect(other.string == "tea\nmilk\neggs\n")
    // Nothing writes the file that an editor has open.
    other.replace(0..<0, "bread\n")
    try await settle([other])
    #expect(ana.files[path] == Array("tea\nmilk\neggs\n".utf8))
  }

  @Test(arguments: [true, false])
  func whatOneSavesIsNotNewToTheOther(hasPlugin: Bool) async throws {
    let (ana, buffers, id) = try await opened(seed: 4, hasPlugin: hasPlugin)
    buffers[0].replace(0..<0, "bread\n")
    ana.files.write(path, buffers[0].string)
    buffers[0].save()
    ana.service.fileChanged(path)
    buffers[1].replace(4..<4, "green ")
    try await settle(buffers)
    ana.files.write(path, buffers[1].string)
    buffers[1].save()
    ana.service.fileChanged(path)
    try await settle(buffers)
    #expect(ana.text(of: id) == "bread\ntea\ngreen milk\n")
    #expect(buffers.map(\.string) == ["bread\ntea\ngreen milk\n", "bread\ntea\ngreen milk\n"])
  }

  /// Each buffer is compared with what it had itself: one had not yet got what was typed in the other.
  @Test(arguments: [[0, 1], [1, 0]])
  func bothOutliveAServiceThatIsKilled(order: [Int]) async throws {
    let journal = WrittenJournal()
    let (ana, buffers, id) = try await opened(seed: 6, journal: journal)
    buffers[0].replace(0..<0, "bread\n")
    buffers[1].replace(9..<9, "eggs\n")
    let run = ana.service.run
    let texts = [buffers[0].string, "ham\n" + buffers[1].string]
    #expect(texts == ["bread\ntea\nmilk\n", "ham\ntea\nmilk\neggs\n"])
    ana.world.crash("ana")
    let dead = KilledRun(run: run, bytes: journal.writings.flatMap(\.self))
    let next = ServiceUnderTest(ana.world, "ana", files: ana.files, journal: dead)
    try await next.start(watching: MemoryFolders())
    for index in order { next.open(uris[index], texts[index], reattach: true, run: run) }
    for uri in uris { try await next.wait(for: uri) { next.binding(uri) != nil } }
    try await next.pass(.seconds(2))
    let lines = next.text(of: id)?.split(separator: "\n").map(String.init)
    #expect(lines?.sorted() == ["bread", "eggs", "ham", "milk", "tea"])
  }

  /// Both are closed in the same millisecond, before what was typed there is merged.
  @Test func whatWasTypedInBothIsKeptIfTheServiceIsKilledBeforeItIsMerged() async throws {
    let journal = WrittenJournal()
    let (ana, buffers, id) = try await opened(seed: 7, journal: journal)
    for buffer in buffers { buffer.close() }
    try await ana.wait(for: "the end") { !ana.service.isOpen(id) && !ana.service.fileSync.isPlanned(id) }
    for (uri, word) in zip(uris, ["ham", "eggs"]) { typeAndClose(uri, word, in: ana) }
    #expect(uris.allSatisfy { ana.binding($0) == nil })
    #expect(try await recovered(after: ana, journal).sorted() == ["eggs\n", "ham\n"])
  }

  @Test(arguments: [true, false])
  func whatWasTypedInOneIsKeptUntilItIsMergedThoughTheOtherIsClosed(isMerged: Bool) async throws {
    let journal = WrittenJournal()
    let (ana, buffers, id) = try await opened(seed: 8, journal: journal)
    buffers[1].close()
    typeAndClose(uris[1], "ham", in: ana)
    buffers[0].close()
    #expect(journal.content.left.count == 1)
    if isMerged { try await ana.wait(for: "the line") { ana.text(of: id)?.contains("ham") ?? false } }
    try await ana.waitAsTimeStands(for: "the end") { !isMerged || journal.content.left.isEmpty }
    let kept = try await recovered(after: ana, journal)
    #expect(kept.contains("ham\n") == !isMerged, "\(kept)")
  }

  /// The person opens the file and replaces its text. The service has not opened the note when the buffer is closed.
  private func typeAndClose(_ uri: String, _ word: String, in ana: ServiceUnderTest) {
    ana.open(uri, word)
    ana.change(uri, word + "\n", version: 2)
    ana.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
  }

  /// The texts that the next process keeps when this one is killed.
  private func recovered(after ana: ServiceUnderTest, _ journal: WrittenJournal) async throws -> [String] {
    let dead = KilledRun(run: ana.service.run, bytes: journal.writings.flatMap(\.self))
    ana.world.crash("ana")
    let next = ServiceUnderTest(ana.world, "ana", files: ana.files, journal: dead)
    try await next.start(watching: MemoryFolders())
    try await next.pass(.seconds(2))
    return try await next.recoveredTexts()
  }

  @Test func undoUnderOneReachesTheOther() async throws {
    let (ana, buffers, id) = try await opened(seed: 5)
    buffers[0].replace(0..<0, "bread\n")
    try await settle(buffers)
    #expect(buffers[1].string == "bread\ntea\nmilk\n")
    let binding = try #require(ana.binding(uris[0]))
    #expect(try binding.undo.go(.undo, .steps(1)) == 1)
    try await settle(buffers)
    #expect(ana.text(of: id) == "tea\nmilk\n")
    #expect(buffers.map(\.string) == ["tea\nmilk\n", "tea\nmilk\n"])
  }
}

/// The journal of a process that was killed.
private struct KilledRun: JournalAccess {
  let run: String
  let bytes: [UInt8]

  func append(_ bytes: [UInt8]) -> Int? { bytes.count }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() {}
  func abandon() {}
  func read(_ run: String) async -> [UInt8]? { run == self.run ? bytes : nil }
  func deadRuns() async -> [String] { [run] }
  func livingRuns() async -> [String] { [] }
  func remove(_ run: String) async {}
}
