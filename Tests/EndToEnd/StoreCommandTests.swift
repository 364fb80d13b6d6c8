import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The subcommands that maintain a store, beside a service that uses it.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct StoreCommandTests {}

extension StoreCommandTests {
  private func storedNote(_ text: String) throws -> OpenNote {
    let note = try OpenNote()
    note.client.edit(0..<0, with: text)
    note.client.flush()
    try note.process.waitFor("it is stored") {
      try note.process.request("notes/status", ["uri": .string(note.client.uri)])["stored"] == true
    }
    return note
  }

  @Test func aStoreInUseIsCheckedAndSound() throws {
    let note = try storedNote("milk\n")
    let result = try note.user.run(["fsck", "--json"])
    #expect(result.exit == .code(0))
    let report = try JSONValue(parsing: result.output)
    #expect(report["ok"] == true)
    #expect(report["documents"] == [])
  }

  private func damageRows(of id: String, in user: NotesUser) throws {
    let python = """
      import sqlite3, sys
      base = sqlite3.connect(sys.argv[1])
      base.execute("UPDATE item SET bytes = x'00' WHERE key LIKE ? || '/%'", (sys.argv[2],))
      base.commit()
      """
    let hurt = try ChildProcess.run(["python3", "-c", python, user.home + "/notes.db", id])
    try #require(hurt.exit == .code(0))
  }

  @Test func aDamagedChunkIsReportedByItsNote() throws {
    let note = try storedNote("milk\n")
    try note.process.shutdown()
    try damageRows(of: note.id, in: note.user)
    let found = try note.user.run(["fsck", "--json"])
    #expect(found.exit == .code(1))
    let report = try JSONValue(parsing: found.output)
    #expect(report["documents"]?[0]?["title"] == "Shopping")
    #expect(report["documents"]?[0]?["id"]?.stringValue == note.id)
    #expect(try note.user.run(["fsck", "--json"]).output == found.output, "looking changes nothing")
    #expect(try note.user.run(["fsck", "--repair"]).exit == .code(1))
    // Rows that could not be read are set aside; the command then finds no more problems.
    #expect(try note.user.run(["fsck"]).exit == .code(0))
  }

  /// A store whose first page is no table any more, and its bytes.
  private func damagedStore(_ place: Range<Int> = 100..<108) throws -> (user: NotesUser, bytes: Data) {
    let note = try storedNote("milk\n")
    try note.process.shutdown()
    // Without a log, which could heal the page.
    let python = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)')"
    let settled = try ChildProcess.run(["python3", "-c", python, note.user.home + "/notes.db"])
    try #require(settled.exit == .code(0))
    for ending in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: note.user.home + "/notes.db" + ending)
    }
    let file = URL(fileURLWithPath: note.user.home + "/notes.db")
    var bytes = try Data(contentsOf: file)
    bytes.replaceSubrange(place, with: Data(repeating: 0xAA, count: place.count))
    try bytes.write(to: file)
    return (note.user, bytes)
  }

  @Test(arguments: [100..<108, 0..<16])
  func aDamagedStoreIsReportedAndOnlyARepairTouchesIt(place: Range<Int>) throws {
    let (user, bytes) = try damagedStore(place)
    let file = URL(fileURLWithPath: user.home + "/notes.db")
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: user.home) }
    let found = try user.run(["fsck"])
    #expect(found.exit == .code(1) && found.output.contains("the file: "), "\(found)")
    #expect(!found.output.contains("all is well"))
    #expect(try JSONValue(parsing: user.run(["fsck", "--json"]).output)["ok"] == false)
    for verb in [
      ["list"], ["new", "Other"], ["show", "Shopping"], ["find", "milk"], ["export", "Shopping", "/x.md"],
    ] {
      #expect(try user.run(verb).exit == .code(1), "\(verb)")
    }
    #expect(try Data(contentsOf: file) == bytes)
    #expect(try !names().contains { $0.hasPrefix("damaged-") })
    let repaired = try user.run(["fsck", "--repair"])
    #expect(
      repaired.exit == .code(1) && repaired.output.contains("was set aside: \(user.home)/damaged-"), "\(repaired)")
    let aside = try #require(try names().first { $0.hasPrefix("damaged-") })
    #expect(try Data(contentsOf: URL(fileURLWithPath: user.home + "/\(aside)/notes.db")) == bytes)
    let after = try user.run(["fsck"])
    #expect(after.exit == .code(0) && after.output.contains(aside) && !after.output.contains("all is well"), "\(after)")
  }

  @Test func aBackupIsNotReplacedByADamagedStore() throws {
    let (user, bytes) = try damagedStore()
    let backup = user.directory.file("backup.db")
    try Data("good".utf8).write(to: URL(fileURLWithPath: backup))
    #expect(try user.run(["backup", backup, "--force"]).exit == .code(1))
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == Data("good".utf8))
    #expect(try Data(contentsOf: URL(fileURLWithPath: user.home + "/notes.db")) == bytes)
    #expect(try user.run(["backup", user.directory.file("new.db")]).exit == .code(1))
    #expect(!FileManager.default.fileExists(atPath: user.directory.file("new.db")))
  }

  @Test func aBackupIsNotReplacedByAStoreWithADamagedRow() throws {
    let note = try storedNote("milk\n")
    try note.process.shutdown()
    let backup = note.user.directory.file("backup.db")
    #expect(try note.user.run(["backup", backup]).exit == .code(0))
    let good = try Data(contentsOf: URL(fileURLWithPath: backup))
    try damageRows(of: note.id, in: note.user)
    #expect(try note.user.run(["backup", backup, "--force"]).exit == .code(1))
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == good)
  }

  @Test func historyAndDiffSayWhatWasWritten() throws {
    let note = try storedNote("milk\nbread\n")
    let first = try note.user.run(["history", "Shopping"])
    #expect(first.exit == .code(0))
    #expect(first.output.contains("Ana") && first.output.contains("milk"))
    let state = try #require(first.output.split(separator: " ").first)
    note.client.edit(0..<4, with: "oat milk")
    note.client.flush()
    try note.process.shutdown()
    let difference = try note.user.run(["diff", "Shopping", "--from", String(state)])
    #expect(difference.output == "@@ line 1, by Ana\n-milk\n+oat milk\n")
    let json = try JSONValue(parsing: try note.user.run(["history", "Shopping", "--limit", "1", "--json"]).output)
    #expect(json["changes"]?.arrayValue?.count == 1)
    #expect(try note.user.run(["diff", "Shopping", "--from", "nonsense"]).exit == .code(1))
    #expect(try note.user.run(["history", "Shopping", "--limit", "0"]).exit == .code(2))
  }

  @Test func aBackupHoldsWhatWasStored() throws {
    let note = try storedNote("milk\n")
    let copy = try NotesUser("Copy")
    let result = try note.user.run(["backup", copy.home + "/notes.db"])
    #expect(result.exit == .code(0))
    #expect(try copy.storedText(of: note.id) == "milk\n")
    #expect(try note.user.run(["backup", copy.home + "/notes.db"]).exit == .code(1))
    #expect(try note.user.run(["backup", copy.home + "/notes.db", "--force"]).exit == .code(0))
  }

  @Test func aStoreThatCannotBeWrittenIsReadAndNothingIsCalledStored() throws {
    let note = try storedNote("milk\n")
    try note.process.shutdown()
    let command = try note.user.command().map { "'\($0)'" }.joined(separator: " ")
    let script = """
      mount --bind \(note.user.home) \(note.user.home) && mount -o remount,bind,ro \(note.user.home) || exit 77
      exec \(command)
      """
    let child = try ChildProcess.withOwnMounts(script)
    let process = NotesProcess(child, of: note.user)
    do {
      try process.initialize(userName: "Ana")
    } catch {
      guard try child.waitForExit() == .code(77) else { throw error }
      print("SKIPPING the store that cannot be written: nothing can be mounted here.")
      return
    }
    let opened = try process.request("notes/open", ["id": .string(note.id)])
    let client = try ModelClient(process, note: opened)
    try ModelClient.waitForConvergence([client])
    client.edit(0..<0, with: "more ")
    client.flush()
    try ModelClient.waitForConvergence([client])
    #expect(try process.request("notes/status", ["uri": .string(client.uri)])["stored"] == false)
    #expect(client.text.string == "more milk\n")
    try process.kill()
    #expect(try note.user.storedText(of: note.id) == "milk\n")
  }

  @Test func aFullDiskIsToldAndStoringGoesOnWhenThereIsRoom() throws {
    let directory = try TemporaryDirectory()
    let disk = try directory.directory("disk")
    let user = try NotesUser("Ana")
    let command = try user.command().map { $0 == user.home ? disk + "/home" : $0 }.map { "'\($0)'" }
    let filler = disk + "/filler"
    // The inner shell frees space when a file outside appears.
    let script = """
      mount -t tmpfs -o size=2m tmpfs \(disk) || exit 77
      mkdir \(disk)/home
      (while [ ! -e \(directory.file("fill")) ]; do sleep 0.02; done
       head -c 4000000 /dev/zero > \(filler) 2>/dev/null; touch \(directory.file("filled"))
       while [ ! -e \(directory.file("free")) ]; do sleep 0.02; done; rm \(filler)) >/dev/null 2>&1 </dev/null &
      exec \(command.joined(separator: " "))
      """
    let child = try ChildProcess.withOwnMounts(script)
    let process = NotesProcess(child, of: user)
    do {
      try process.initialize(userName: "Ana")
    } catch {
      guard try child.waitForExit() == .code(77) else { throw error }
      print("SKIPPING the full disk: nothing can be mounted here.")
      return
    }
    let client = try ModelClient(process, note: try process.request("notes/create", ["title": "Long"]))
    func isStored() throws -> Bool {
      try process.request("notes/status", ["uri": .string(client.uri)])["stored"] == true
    }
    try process.waitFor("it is stored") { try isStored() }
    _ = FileManager.default.createFile(atPath: directory.file("fill"), contents: nil)
    try process.waitFor("a full disk") { FileManager.default.fileExists(atPath: directory.file("filled")) }
    var random = SeededGenerator(seed: 91)
    let text = String((0..<300_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random))) })
    client.edit(0..<0, with: text)
    client.flush()
    try process.waitForNotification("notes/statusChanged") { $0["stored"] == false }
    #expect(try !isStored())
    _ = FileManager.default.createFile(atPath: directory.file("free"), contents: nil)
    let start = ContinuousClock.now
    try process.waitFor("it is stored after all") { try isStored() }
    let time = ContinuousClock.now - start
    print("full disk: stored \(time) after there was room")
  }
}
