import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import PeerNetwork
import RepoTestSupport
import UV

/// Two people type into one note, each in a service of their own, while one of the services is besieged.
public struct SiegeRun {
  public struct Figures {
    /// From one editor to the other, before and during the siege.
    public var before: [Double] = []
    public var during: [Double] = []
    /// What the besieged service has more in memory than before, at its most.
    public var growth = 0
    public var linkCount = 0
    public var sentCount = 0
    /// What the screens said of a person being gone, and what broke the editors' protocol.
    public var complaints: [String] = []
  }

  public var strangers = 100
  public var guests = 28
  public var keystrokes = 200
  /// People type on until the besiegers have sent so many messages, however quickly the keystrokes go.
  public var leastSent = 0
  /// Half megabytes in each message that inflates.
  public var bombSize = 6

  public init() {}

  public func run() async throws -> Figures {
    var figures = Figures()
    let (ana, ben) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let (besieged, friend) = (try ana.startInitialized(), try ben.startInitialized())
    let note = try besieged.request("notes/create", ["title": "Ours", "text": "start\n"])
    let bait = try besieged.request("notes/create", ["title": "Bait", "text": "bait\n"])
    func ticket(_ note: JSONValue, uses: Int, _ access: String = "write") throws -> String {
      let shared = try besieged.request(
        "notes/share", ["id": note["id"] ?? .null, "uses": .int(Int64(uses)), "access": .string(access)])
      return shared["ticket"]?.stringValue ?? ""
    }
    let ours = try ticket(note, uses: 1)
    let writer = try ModelClient(besieged, note: note)
    let reader = try ModelClient(friend, note: friend.request("notes/join", ["ticket": .string(ours)]))
    let (forBait, toRead) = (try ticket(bait, uses: max(1, guests)), try ticket(note, uses: max(1, guests), "read"))
    guard let parsed = try? Ticket(parsing: ours), let address = parsed.addresses.first else { return figures }

    try ModelClient.waitForConvergence([writer, reader])
    figures.before = try type(writer, reader)
    let start = resident(besieged)
    let (strangers, guests, bombSize) = (strangers, guests, bombSize)
    let besiegers = try await TestLoop.run { loop in
      let besiegers = Besiegers(loop, address: address, host: parsed.peer, bombSize: bombSize)
      try besiegers.addStrangers(strangers)
      try await besiegers.addGuests(guests / 2, ticket: forBait)
      try await besiegers.addGuests(guests - guests / 2, ticket: toRead)
      besiegers.begin()
      return besiegers
    }
    var most = start
    repeat {
      figures.during += try type(writer, reader) { most = max(most, self.resident(besieged)) }
      (figures.linkCount, figures.sentCount) = try await TestLoop.run { _ in
        (besiegers.linkCount, besiegers.sentCount)
      }
    } while figures.sentCount < leastSent && figures.linkCount > 0
    figures.growth = most - start
    try await TestLoop.run { _ in besiegers.stop() }
    try ModelClient.waitForConvergence([writer, reader])
    figures.complaints = writer.complaints + reader.complaints
    for (process, other) in [(besieged, "Ben"), (friend, "Ana")] {
      figures.complaints += process.messages.compactMap { message in
        let params = message["params"]
        guard params?["kind"]?.stringValue == "offline", params?["name"]?.stringValue == other else { return nil }
        return "\(other) was dropped"
      }
      try process.shutdown()
    }
    return figures
  }

  /// One keystroke after the other, in turns; returns how long each took, in milliseconds.
  private func type(_ one: ModelClient, _ other: ModelClient, each: () -> Void = {}) throws -> [Double] {
    var milliseconds: [Double] = []
    for number in 0..<keystrokes {
      let (typist, reader) = number % 2 == 0 ? (one, other) : (other, one)
      let count = reader.appliedCount
      let begin = ContinuousClock.now
      typist.edit(0..<0, with: "x")
      typist.flush()
      try NotesProcess.wait(for: "the keystroke", of: [typist.process, reader.process]) { reader.appliedCount > count }
      milliseconds.append((ContinuousClock.now - begin) / .milliseconds(1))
      each()
    }
    return milliseconds
  }

  private func resident(_ process: NotesProcess) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(process.child.processId)/statm", encoding: .utf8)) ?? ""
    return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
  }
}
