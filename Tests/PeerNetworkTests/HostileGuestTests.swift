import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A real service, and in this process a guest that has joined its notes and puts into them what no editor would.
@Suite(.serialized, .enabled(if: NotesBinary.path != nil, "needs notes-lsp, built or named by NOTES_LSP_BINARY"))
struct HostileGuestTests {}

extension HostileGuestTests {
  /// The service of the person whose notes they are.
  private struct Host {
    let user: NotesUser
    let process: NotesProcess
    /// Open in an editor all the time.
    let client: ModelClient

    init() throws {
      user = try NotesUser("Ana")
      process = try user.start(extra: ["--log-level", "info"])
      try process.initialize(userName: "Ana")
      client = try ModelClient(process, note: process.request("notes/create", ["title": "Own", "text": "mine\n"]))
    }

    func share(_ title: String, text: String) throws -> (id: String, ticket: String) {
      let note = try process.request("notes/create", ["title": .string(title), "text": .string(text)])
      let id = try #require(note["id"]?.stringValue)
      return (id, try #require(try process.request("notes/share", ["id": .string(id)])["ticket"]?.stringValue))
    }

    /// Asks everything there is to ask of a note, and returns how long the slowest answer took, and to what.
    func askAll(about id: String) throws -> (time: Duration, method: String) {
      var longest = (time: Duration.zero, method: "")
      let start = JSONValue.object(present: ["line": 0, "character": 0])
      let end = JSONValue.object(present: ["line": 9, "character": 0])
      let range = JSONValue.object(present: ["start": start, "end": end])
      for (method, params) in [
        ("notes/status", [:]), ("notes/list", [:]), ("notes/peers", [:]), ("notes/history", ["id": .string(id)]),
        ("notes/blame", ["id": .string(id), "range": range]), ("notes/search", ["query": "a"]),
      ] as [(String, JSONValue)] {
        let begin = ContinuousClock.now
        // Some cannot be answered for what is no note any more; then they say so.
        _ = try process.respond(method, params)
        let time = ContinuousClock.now - begin
        if time > longest.time { longest = (time, method) }
      }
      return longest
    }

    var residentByteCount: Int {
      let text = (try? String(contentsOfFile: "/proc/\(process.child.processId)/statm", encoding: .utf8)) ?? ""
      return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
    }

    /// The other note is as it was, and can be written.
    func checkThatItIsWell(_ what: String) throws {
      let before = client.text.string
      client.edit(0..<0, with: "x")
      client.flush()
      try process.waitFor("the own note to be stored: \(what)") {
        try process.request("notes/status", ["uri": .string(client.uri)])["stored"] == true
      }
      #expect(client.text.string == "x" + before && client.complaints == [], "\(what)")
      #expect(process.child.exit == nil && process.garbage == [], "\(what)")
    }
  }

  /// Joins, does something to the document, and returns when the host has it. The link outlives it.
  private func visit(
    _ ticket: String, calendarAhead: TimeInterval = 0, _ body: @escaping @Sendable (Document) throws -> Void
  ) async throws {
    try await TestLoop.run { loop in
      let guest = try await Person.start("Mallory", on: loop, storage: InMemoryStorage(), listen: nil)
      guest.clock.calendarAhead = calendarAhead
      let handle = try await guest.open(ticket)
      let host = try #require(guest.repo.peers.keys.first)
      try handle.change(body)
      try await eventually("the host has it", on: loop) { handle.inSync(with: host) }
      #expect(guest.provider.isConnected(host), "the link is not the worse for it")
      try await guest.stop()
    }
  }

  private static let day: TimeInterval = 86_400

  /// By how many seconds the guest's calendar is ahead.
  @Test func calendarsThatAreYearsOffDoNoHarm() async throws {
    let host = try Host()
    let toYear9999 = Date(timeIntervalSince1970: 253_402_300_799).timeIntervalSince1970 - Date().timeIntervalSince1970
    let before = host.residentByteCount
    var slowest = Duration.zero
    let cases = [3652 * Self.day, -3652 * Self.day, toYear9999, 1e15, -1e15, 1e18, -1e18, 9.3e18, -9.3e18, 1e300]
    for seconds in cases {
      let (id, ticket) = try host.share("Years \(seconds)", text: "soup\n")
      try await visit(ticket, calendarAhead: seconds) { document in
        guard let text = try document.contentId() else { return }
        try document.spliceText(obj: text, start: 0, delete: 0, value: "late ")
      }
      slowest = max(slowest, try host.askAll(about: id).time)
      let uri = try #require(try host.process.request("notes/open", ["id": .string(id)])["uri"])
      #expect(uri.stringValue?.isEmpty == false)
      try host.checkThatItIsWell("\(seconds) s ahead")
    }
    let growth = host.residentByteCount - before
    print("\(cases.count) calendars: the slowest answer took \(slowest), \(growth >> 10) KiB of memory more")
    #expect(growth < 64 << 20)
    try host.process.shutdown()
  }

  private static let contents: [(String, @Sendable (Document) throws -> Void)] = {
    func typed(_ text: String) -> @Sendable (Document) throws -> Void {
      { try $0.spliceText(obj: try #require(try $0.contentId()), start: 0, delete: 0, value: text) }
    }
    return [
      ("NUL", typed("a\u{0}b")), ("a byte order mark", typed("\u{feff}a")), ("CR", typed("a\rb\r\nc")),
      ("bidirectional controls", typed("\u{202e}evil\u{2066}x\u{2069}")), ("no characters", typed("\u{fffe}\u{ffff}")),
      ("10,000 combining marks", typed("a" + String(repeating: "\u{301}", count: 10_000))),
      ("line separators", typed("\u{2028}\u{2029}\u{85}\u{0b}\u{0c}")),
      ("beyond the first plane", typed(String(repeating: "\u{10ffff}👨‍👩‍👧", count: 100))),
      ("100,000 empty lines", typed(String(repeating: "\n", count: 100_000))),
      (
        "nothing left",
        { document in
          let text = try #require(try document.contentId())
          try document.spliceText(obj: text, start: 0, delete: Int64(document.length(obj: text)), value: "")
        }
      ),
      ("the text is a list", { _ = try $0.putObject(obj: .ROOT, key: "content", ty: .List) }),
      ("the text is a map", { _ = try $0.putObject(obj: .ROOT, key: "content", ty: .Map) }),
      ("the text is a word", { try $0.put(obj: .ROOT, key: "content", value: .String("word")) }),
      ("the text is gone", { try $0.delete(obj: .ROOT, key: "content") }),
      (
        "everything is gone",
        { document in for key in document.keys(obj: .ROOT) { try document.delete(obj: .ROOT, key: key) } }
      ),
      ("the title is a number", { try $0.put(obj: .ROOT, key: "title", value: .Int(.min)) }),
      ("the title is a list", { _ = try $0.putObject(obj: .ROOT, key: "title", ty: .List) }),
      (
        "the title has a megabyte",
        { document in
          let title = try document.putObject(obj: .ROOT, key: "title", ty: .Text)
          try document.spliceText(
            obj: title, start: 0, delete: 0, value: String(repeating: "\u{1b}[2J/", count: 200_000))
        }
      ),
      ("what it is is a word", { try $0.put(obj: .ROOT, key: "@notes", value: .String("note")) }),
      ("who wrote it is a number", { try $0.put(obj: .ROOT, key: "people", value: .F64(.nan)) }),
      (
        "dates that no calendar has",
        { document in
          try document.put(obj: .ROOT, key: "created", value: .Timestamp(Date(timeIntervalSince1970: 9e15)))
          try document.put(obj: .ROOT, key: "deleted", value: .Timestamp(Date(timeIntervalSince1970: -9e15)))
        }
      ),
      ("when it was made is a word", { try $0.put(obj: .ROOT, key: "created", value: .String("yesterday")) }),
      (
        "5,000 maps in one another",
        { document in
          var inner = try document.putObject(obj: .ROOT, key: "deep", ty: .Map)
          for _ in 0..<5000 { inner = try document.putObject(obj: inner, key: "deep", ty: .Map) }
        }
      ),
      (
        "a key of a megabyte",
        { try $0.put(obj: .ROOT, key: String(repeating: "k", count: 1 << 20), value: .Bytes(Data(count: 1 << 20))) }
      ),
    ]
  }()

  @Test func whateverIsInTheDocumentTheServiceGoesOn() async throws {
    let host = try Host()
    let before = host.residentByteCount
    var slowest = (Duration.zero, "")
    for (what, change) in Self.contents {
      let (id, ticket) = try host.share(what, text: "soup\n")
      try await visit(ticket, change)
      let answer = try host.askAll(about: id)
      if answer.time > slowest.0 { slowest = (answer.time, "\(answer.method), \(what)") }
      try host.checkThatItIsWell(what)
    }
    let growth = host.residentByteCount - before
    print(
      "\(Self.contents.count) strange documents: the slowest answer took \(slowest.0) (\(slowest.1)), "
        + "\(growth >> 10) KiB of memory more")
    #expect(growth < 64 << 20)
    let list = try host.process.request("notes/list")
    #expect(list.encoded().count < 100_000, "what is listed has titles of a length that can be shown")
    try host.process.shutdown()
    // All of it is stored, and none of it keeps the service from starting again.
    let again = try host.user.startInitialized()
    #expect(try again.request("notes/list")["notes"]?.arrayValue?.count == Self.contents.count + 1)
    try again.shutdown()
  }

  /// What a guest says of itself that cannot be shown.
  @Test func whateverAGuestSaysOfItselfTheEditorIsLeftInPeace() async throws {
    let host = try Host()
    let shared = try host.process.request("notes/share", ["id": .string(host.client.id)])
    let ticket = try #require(shared["ticket"]?.stringValue)
    try await TestLoop.run { loop in
      let guest = try await Person.start("Mallory", on: loop, storage: InMemoryStorage(), listen: nil)
      let handle = try await guest.open(ticket)
      let peer = try #require(guest.repo.peers.keys.first)
      try await eventually("both are on it", on: loop) { handle.inSync(with: peer) }
      let cursors: [CBOR] = [
        .bytes(Data()), .bytes(Data(count: 1)), .bytes(Data(repeating: 0xff, count: 4000)), 7, "s:end",
      ]
      let values = cursors.map { cursor in
        CBOR.record([
          "name": .text("\u{1b}[2J\u{202e}x"), "color": .integer(.min), "ranges": .array([.array([cursor, cursor])]),
        ])
      }
      for value in values + [.null, .array([]), .record(["name": 7, "ranges": "x"])] {
        let update = CBOR.record(["type": "update", "channel": "notes", "value": value])
        handle.broadcast(Data(CBOR.record(["__presence": update]).encoded()))
        let snapshot = CBOR.record(["type": "snapshot", "state": .record(["notes": value])])
        handle.broadcast(Data(CBOR.record(["__presence": snapshot]).encoded()))
      }
      for bytes in [[UInt8](repeating: 0x81, count: 60_000), [UInt8](repeating: 0xff, count: 70_000), [], [0xa1]] {
        handle.broadcast(Data(bytes))
      }
      try handle.splice(0, "after ")
      try await eventually("the host has it", on: loop) { handle.inSync(with: peer) }
      #expect(guest.provider.isConnected(peer))
      try await guest.stop()
    }
    try host.process.waitFor("what came afterwards") { host.client.text.string == "after mine\n" }
    let shown = host.process.messages.filter { $0["method"]?.stringValue == "notes/cursors" }.description
    #expect(!shown.unicodeScalars.contains { $0.value == 0x1b || $0.value == 0x202e })
    try host.checkThatItIsWell("presence")
    try host.process.shutdown()
  }

  private static let titles = [
    "../../.ssh/authorized_keys", "/etc/passwd", "a/../../b", "..", ".", ".git/hooks/post-commit", "CON", "NUL.txt",
    String(repeating: "n", count: 300), String(repeating: "\u{1f4d0}", count: 300), "ends...", "ends   ", "café",
    "cafe\u{301}", "\u{202e}dm.evil", "two\nlines", "", "\u{0}", "p\u{430}ypal", "paypal", "-rf", "~", "~root/x",
    "$HOME",
    "a\u{2f}b", "a\u{2044}b", "a\u{ff0f}b", "\u{1b}]0;x\u{07}", "linked",
  ]

  /// Notes of a hostile host: the files that the service makes for them lie in the person's folder, each its own.
  @Test func whateverATitleSaysTheFileStaysInTheFolder() async throws {
    let user = try NotesUser("Ben")
    // The guest has put a link in the place of a file that will be wanted.
    let outside = user.directory.file("outside")
    try "not yours".write(toFile: outside, atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: user.notes + "/linked.md", withDestinationPath: outside)
    let process = try user.startInitialized()
    let titles = Self.titles
    let (host, tickets) = try await TestLoop.run { loop in
      let host = try await Person.start("Mallory", on: loop, storage: InMemoryStorage())
      var tickets: [String] = []
      for title in titles {
        let document = try Document.note("soup\n")
        let text = try document.putObject(obj: .ROOT, key: "title", ty: .Text)
        try document.spliceText(obj: text, start: 0, delete: 0, value: title)
        let note = try host.repo.create(document)
        tickets.append(try #require(try await host.directory.share(note.id)).description)
      }
      return (host, tickets)
    }
    var paths: Set<[UInt8]> = []
    for (title, ticket) in zip(titles, tickets) {
      let place = try process.request("notes/join", ["ticket": .string(ticket)])
      let path = try #require(place["path"]?.stringValue)
      let name = path.dropFirst(user.notes.count + 1)
      #expect(path.hasPrefix(user.notes + "/") && !name.contains("/") && !name.hasPrefix("."), "\(title): \(path)")
      #expect(!name.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202e }, "\(title): \(path)")
      #expect(name.utf8.count <= 255 && paths.insert(Array(path.utf8)).inserted, "\(title): \(path)")
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "soup\n", "\(title)")
    }
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "not yours")
    #expect(try FileManager.default.contentsOfDirectory(atPath: user.notes).count == titles.count + 1)
    try process.shutdown()
    try await TestLoop.run { _ in try await host.stop() }
  }

  /// What is much rather than strange: it takes its time, and others are answered.
  @Test(arguments: [(5_000, 1), (1, 4_000_000)])
  func muchAtOnceIsTakenAndTheOthersAreAnswered(changeCount: Int, byteCount: Int) async throws {
    let host = try Host()
    let (id, ticket) = try host.share("Much", text: "soup\n")
    let word = String(repeating: "0123456789 abcdefghijklmnopqrstuvwxyz\n", count: byteCount / 38 + 1)
    let start = ContinuousClock.now
    try await visit(ticket) { document in
      let text = try #require(try document.contentId())
      for _ in 0..<changeCount {
        try document.spliceText(obj: text, start: 0, delete: 0, value: byteCount == 1 ? "x" : word)
        document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
      }
    }
    let took = ContinuousClock.now - start
    let longest = try host.askAll(about: id)
    print(
      "\(changeCount) changes of \(byteCount) bytes were there after \(took); then the slowest answer took \(longest)")
    try host.checkThatItIsWell("much")
    try host.process.shutdown()
  }

  /// A peer asks for signs of life all the time while a large note arrives, is taken in, stored and shown.
  @Test func aPeerIsAnsweredWhileALargeNoteArrives() async throws {
    let (writer, reader) = (try Host(), try Host())
    let text = String(repeating: "a line of forty-nine letters, as notes have them.\n", count: 60_000)
    let (id, ticket) = try writer.share("Large", text: text)
    let port = try #require(reader.user.log.firstMatch(of: /Listening at 127\.0\.0\.1:(\d+)/))
    let address = try #require(PeerAddress("127.0.0.1:\(port.1)"))
    let pinger = try await TestLoop.run { loop in try await Pinger(address, loop) }
    let start = ContinuousClock.now
    _ = try reader.process.request("notes/join", ["ticket": .string(ticket)])
    try reader.process.waitFor("the text") {
      try reader.process.request("notes/open", ["id": .string(id)])["uri"] != nil
    }
    let took = ContinuousClock.now - start
    let (count, longest) = try await TestLoop.run { loop in try await pinger.finish(loop) }
    print(
      "\(text.utf8.count) bytes joined in \(took); \(count) pings meanwhile, the longest wait for an answer \(longest)")
    #expect(count > 0)
    for host in [writer, reader] { try host.process.shutdown() }
  }

  /// A peer that does nothing but ping, again and again.
  @AutomergeRepo
  private final class Pinger {
    private let raw: RawPeer
    private var isDone = false
    private var count = 0
    private var longest = Duration.zero
    private var task: Task<Void, any Error>?

    init(_ address: PeerAddress, _ loop: Loop) async throws {
      raw = try await RawPeer.connect(to: address, on: loop)
      try raw.join()
      let raw = raw
      try await eventually("joined", on: loop) { !raw.messages.isEmpty }
      task = Task { @AutomergeRepo in try await self.run(loop) }
    }

    private func run(_ loop: Loop) async throws {
      while !isDone {
        let start = MonotonicTime.now
        try await raw.pinged()
        count += 1
        longest = max(longest, MonotonicTime.now - start)
      }
    }

    func finish(_ loop: Loop) async throws -> (Int, Duration) {
      isDone = true
      try await task?.value
      raw.stream.close()
      return (count, longest)
    }
  }
}
