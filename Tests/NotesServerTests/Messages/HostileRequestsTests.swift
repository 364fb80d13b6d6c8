import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A client, with a plugin of ours or without one, may send any position, file, id and number in any message.
@AutomergeRepo @Suite(.serialized) struct HostileRequestsTests {}

extension HostileRequestsTests {
  fileprivate nonisolated static let uri = "file:///notes/Trip.md"
  private static let text = "# Trip\nSee [[Shopping]] and 🍷.\n"
  private func opened() async throws -> ServiceUnderTest {
    let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 41))), "ana")
    try await ana.start()
    try await ana.create("Shopping", "tea\n")
    try await ana.create("Trip", Self.text)
    ana.open(Self.uri, Self.text)
    try await ana.wait(for: "the note") { ana.binding(Self.uri) != nil }
    return ana
  }

  /// The methods that do not end the service.
  private static var methods: [String] {
    EditorProtocol.messages.compactMap { order in
      switch order {
      case .first, .last, .exit: nil
      case .inTurn, .inBuffer, .withUndo, .concurrent, .network, .shared: order.method
      }
    }
  }

  /// A client may choose any path; no title, id or file that it sends makes the service write elsewhere.
  @Test(arguments: SeedCount.part(of: UInt64(1)...12)) func anyMessageWithAnyValuesIsAnsweredAndWritesOnlyWhereItMay(
    seed: UInt64
  ) async throws {
    let ana = try await opened()
    var shapes = RequestShapes(random: SeededGenerator(seed: seed))
    for method in Self.methods {
      for _ in 0..<4 {
        _ = try? await ana.request(method, shapes.params())
        ana.send(method, shapes.params())
      }
    }
    try await ana.pass(.seconds(3))
    #expect(ana.files.paths.filter { !$0.hasPrefix("/notes/") && !$0.hasPrefix("/chosen/") } == [], "seed \(seed)")
    #expect(ana.files.paths.filter { $0.split(separator: "/").contains("..") } == [], "seed \(seed)")
    // The service still answers.
    let list = try await ana.request("notes/list", [:])["notes"]?.arrayValue ?? []
    #expect(list.count >= 2, "seed \(seed)")
  }

  /// LSP's numbers end at 2³¹ − 1, those that the service reads at 2⁶³ − 1.
  @Test(arguments: ["hover", "definition", "references", "completion", "rename"])
  func aPlaceBehindEveryTextIsItsEnd(request: String) async throws {
    let ana = try await opened()
    for line in [0, 1, Int.max] {
      _ = try? await ana.request(
        "textDocument/" + request,
        [
          "textDocument": ["uri": .string(Self.uri)], "newName": "Voyage",
          "position": ["line": JSONValue(line), "character": .int(.max)],
        ])
    }
    #expect(ana.binding(Self.uri) != nil)
  }
}

/// Values of every kind for every member that a message may have.
private struct RequestShapes {
  /// The numbers at which arithmetic may overflow.
  static let numbers: [JSONValue] = [
    0, 1, -1, .int(.max), .int(.max - 1), .int(.min), .int(Int64(Int32.max)), .int(Int64(UInt32.max)), .double(1e300),
    .string("1"), .null,
  ]
  static let uris: [JSONValue] = [
    .string(HostileRequestsTests.uri), .string(HostileRequestsTests.uri), "file:///notes/Shopping.md",
    "file:///chosen/plain.txt", "file:///notes/Trip.md#x?y",
    "file:///notes/..%2F..%2Fchosen%2Fx.md", "file:///notes/%00.md", "file:///notes/%ZZ", "file://host/chosen/x.md",
    "file:", "", "untitled:1", .string("file:///notes/" + String(repeating: "a/", count: 3_000)), 7, .null,
  ]
  static let paths: [JSONValue] = [
    "/chosen/x.json", "/chosen/x.meetingnotes", "/chosen/", "relative", "/chosen/\u{0}", "", 7, .null,
  ]
  static let titles: [JSONValue] = [
    "Shopping", "../../etc/passwd", "/etc/passwd", "..", "a]]b", "", "\n", "\u{202E}x\u{0}", 7, .null,
    .string(String(repeating: "漢", count: 2_000)),
  ]
  static let ids: [JSONValue] = [
    "", "3daoycoBpoTGSiTqNSrRd71Eevf1", "../x", .string(HostileRequestsTests.uri), 7, .null, [], [:],
  ]
  static let heads: [JSONValue] = [
    [], [""], [.string(String(repeating: "0", count: 64))], [.string(String(repeating: "z", count: 64))], [7], "x",
    .null, .array(Array(repeating: .string(String(repeating: "f", count: 64)), count: 300)),
  ]
  /// By the names of members; any other member gets one of `odd`.
  static let values: [String: [JSONValue]] = [
    "uri": uris, "path": paths, "directory": paths, "title": titles, "newName": titles, "name": titles, "query": titles,
    "text": titles, "id": ids, "into": ids, "item": ids, "peer": ids, "invitation": ids, "ticket": ids, "url": ids,
    "address": ids, "heads": heads, "from": heads, "to": heads, "before": heads,
  ]
  static let counts = [
    "version", "rev", "since", "limit", "atMost", "position", "seconds", "count", "uses", "expiresIn", "processId",
  ]
  static let odd = [
    "access", "accept", "block", "check", "create", "deleted", "forEveryone", "format", "keys", "kind", "moveOn",
    "notes",
    "opens", "order", "qr", "ranges", "replace", "state", "token", "visible", "type", "changes", "contentChanges",
  ]

  var random: SeededGenerator

  mutating func one(of values: [JSONValue]) -> JSONValue { values[Int.random(in: 0..<values.count, using: &random)] }

  mutating func position() -> JSONValue { ["line": one(of: Self.numbers), "character": one(of: Self.numbers)] }

  mutating func range() -> JSONValue { ["start": position(), "end": position()] }

  mutating func oddity() -> JSONValue {
    one(of: [true, false, "write", "none", "json", "markdown", "meeting", "note", "x", 7, [], [:], [range()], range()])
  }

  /// All members that any message reads, with random values.
  mutating func params() -> JSONValue {
    var members: JSONObject = [:]
    for (name, values) in Self.values.sorted(by: { $0.key < $1.key })
    where Int.random(in: 0..<3, using: &random) > 0 {
      members[name] = one(of: values)
    }
    for name in Self.counts where Bool.random(using: &random) { members[name] = one(of: Self.numbers) }
    for name in Self.odd where Int.random(in: 0..<4, using: &random) == 0 { members[name] = oddity() }
    members["textDocument"] = [
      "uri": one(of: Self.uris), "version": one(of: Self.numbers), "text": one(of: Self.titles),
    ]
    if Int.random(in: 0..<4, using: &random) > 0 { members["position"] = position() }
    members["range"] = range()
    return .object(members)
  }
}
