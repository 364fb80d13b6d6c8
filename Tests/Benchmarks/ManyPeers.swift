import ArgumentParser
import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// Many people in one note, each with a service of their own: how long a keystroke takes until all have it, and how
/// many messages one move of a caret costs all of them together.
struct ManyPeers: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers", abstract: "A keystroke to everybody among many peers, and the frames of a caret move.")

  @Option(help: "How many people there are.")
  var people = 12

  @Option(help: "How many keystrokes to measure.")
  var keystrokes = 300

  @Option(help: "How many moves of a caret to measure.")
  var moves = 30

  @OptionGroup var output: OutputOptions

  func run() throws {
    guard people > 1, keystrokes > 0, moves > 0 else { throw ValidationError("there is nothing to measure") }
    var random = SeededGenerator(seed: 12)
    let clients = try gather()
    try waitForLinks(among: clients)
    var milliseconds: [Double] = []
    for _ in 0..<keystrokes {
      let typist = clients[Int.random(in: 0..<clients.count, using: &random)]
      let offset = typist.text.scalarStart(at: Int.random(in: 0...typist.text.bytes.count, using: &random))
      let others = clients.filter { $0 !== typist }
      let counts = others.map(\.appliedCount)
      let start = ContinuousClock.now
      typist.edit(offset..<offset, with: "x")
      typist.flush()
      try NotesProcess.wait(for: "the keystroke at everybody", of: clients.map(\.process)) {
        zip(others, counts).allSatisfy { $0.appliedCount > $1 }
      }
      milliseconds.append((ContinuousClock.now - start) / .milliseconds(1))
      try typist.process.collect()
    }
    try ModelClient.waitForConvergence(clients)
    var place = 0
    let frames = try (0..<moves).map { _ in
      let mover = clients[Int.random(in: 0..<clients.count, using: &random)]
      return try moveCaret(of: mover, among: clients, from: &place, using: &random)
    }
    let complaints = clients.flatMap(\.complaints)
    guard complaints.isEmpty else { throw ValidationError("the services broke the protocol: \(complaints)") }
    let name = "\(people) peers"
    var measure = Measure(trace: name, name: "keystroke_at_everybody", samples: milliseconds)
    measure.more = [0.9, 0.99].map { ("p\(Int($0 * 100))", milliseconds.percentile($0)) }
    measure.print(asJSON: output.json)
    Measure(trace: name, name: "frames_of_a_caret_move", unit: "frames", samples: frames.map(Double.init))
      .print(asJSON: output.json)
    for client in clients { try client.process.shutdown() }
  }

  /// One shares a note, the others come with the ticket.
  private func gather() throws -> [ModelClient] {
    let host = try NotesUser("Host").startInitialized()
    let note = try host.request("notes/create", ["title": "Company", "text": "start\n"])
    var clients = [try ModelClient(host, note: note)]
    let shared = try host.request("notes/share", ["id": note["id"] ?? .null, "uses": .int(Int64(people))])
    for number in 1..<people {
      let guest = try NotesUser("Guest \(number)").startInitialized()
      let joined = try guest.request("notes/join", ["ticket": shared["ticket"] ?? .null])
      clients.append(try ModelClient(guest, note: joined))
    }
    try ModelClient.waitForConvergence(clients)
    return clients
  }

  /// Waits until no peer has connected to a new one for a second, and the links that are not needed have become idle.
  private func waitForLinks(among clients: [ModelClient]) throws {
    var links = -1
    while true {
      let now = try clients.map { client in
        try client.process.request("notes/status", ["uri": .string(client.uri)])["peers"]?.arrayValue?.count ?? 0
      }.reduce(0, +)
      if now == links { break }
      links = now
      let next = ContinuousClock.now + .seconds(1)
      while ContinuousClock.now < next {
        for client in clients { try client.process.collect() }
        ChildProcess.waitForActivity(of: clients.map(\.process.child), until: next)
      }
    }
    Measure(trace: "\(people) peers", name: "links", unit: "links", samples: [Double(links / 2)])
      .print(asJSON: output.json)
  }

  /// - Parameter place: where the last caret was put; no other goes there, because a caret that does not move sends
  ///   nothing
  private func moveCaret(
    of mover: ModelClient, among clients: [ModelClient], from place: inout Int, using random: inout SeededGenerator
  ) throws -> Int {
    let sentBefore = try sentCount(of: clients)
    let others = clients.filter { $0 !== mover }
    let before = others.map(\.peers)
    let places = mover.text.bytes.count + 1
    place = (place + Int.random(in: 1..<places, using: &random)) % places
    mover.sendCursor(at: mover.text.scalarStart(at: place))
    try NotesProcess.wait(for: "the caret at everybody", of: clients.map(\.process)) {
      zip(others, before).allSatisfy { $0.peers != $1 }
    }
    return try sentCount(of: clients) - sentBefore
  }

  private func sentCount(of clients: [ModelClient]) throws -> Int {
    try clients.map { try $0.process.request("notes/status")["sent"]?.intValue ?? 0 }.reduce(0, +)
  }
}
