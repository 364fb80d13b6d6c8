import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A peer on the local network that answers for all others, announces their departure, and sends invalid messages.
@Suite(
  .ownThreads, .serialized, .enabled(if: Requirements.binary, Requirements.binaryComment),
  .enabled(
    if: NetworkNamespaces.problem == nil,
    "SKIPPED: network namespaces are not allowed here: \(NetworkNamespaces.problem ?? "")"))
struct HostileDiscoveryTests {}

extension HostileDiscoveryTests {
  /// Memory that a process holds, in bytes.
  private func residentByteCount(of process: NotesProcess) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process.child.processId)/statm", encoding: .utf8)
    return try #require(Int(text.split(separator: " ").dropFirst().first ?? "")) * 4096
  }

  @Test func noAnnouncementDisturbsAService() throws {
    let seed = 53
    let count = 1500
    let python = try #require(NotesBinary.find("python3"))
    let network = try NetworkNamespaces(count: 3)
    let (anasUser, bensUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let ana = try anasUser.startInTheOpen(prefix: network.prefix(0))
    let ben = try bensUser.startInTheOpen(prefix: network.prefix(1))
    let note = try ana.request("notes/create", ["title": "Plans", "text": "one\n"])
    let anas = try ModelClient(ana, note: note)
    let shared = try ana.request("notes/share", ["id": .string(anas.id)])
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": shared["ticket"] ?? .null]))
    let ids = try [ana, ben].map { try #require(try $0.request("notes/peers")["self"]?["peer"]?.stringValue) }
    let before = try [ana, ben].map(residentByteCount)

    let script = NotesBinary.packageRoot + "/Tests/EndToEnd/hostile_mdns.py"
    let mallory = try ChildProcess(
      network.prefix(2) + [python, script, network.address(2), "\(seed)", "\(count)"] + ids)
    var edits = 0
    var longest = Duration.zero
    while mallory.exit == nil {
      anas.edit(0..<0, with: "a")
      bens.edit(0..<0, with: "b")
      edits += 2
      for client in [anas, bens] { client.flush() }
      let start = ContinuousClock.now
      _ = try ana.request("notes/status")
      longest = max(longest, ContinuousClock.now - start)
      try ben.collect()
      ChildProcess.waitForActivity(of: [mallory], until: .now + .milliseconds(20))
    }
    #expect(String(decoding: mallory.output, as: UTF8.self) == "said \(count)\n", "\(mallory.details)")
    try ModelClient.waitForConvergence([anas, bens])
    #expect(anas.text.string.count == 4 + edits, "seed \(seed)")
    let growth = try zip([ana, ben].map(residentByteCount), before).map { $0 - $1 }
    print(
      "\(count) hostile announcements among \(edits) keystrokes: the slowest answer took \(longest), "
        + "\(growth.map { $0 >> 10 }) KiB of memory more")
    #expect(growth.allSatisfy { $0 < 64 << 20 }, "seed \(seed)")
    for process in [ana, ben] { #expect(process.child.exit == nil) }
    // The two are still linked and have their names, and no name on the screen is harmful.
    for (process, name) in [(ana, "Ben"), (ben, "Ana")] {
      let peers = try process.request("notes/peers")["peers"]?.arrayValue ?? []
      #expect(peers.contains { $0["name"]?.stringValue == name && $0["state"] == "connected" }, "seed \(seed)")
      #expect(peers.count <= 600, "seed \(seed)")
      let names = peers.compactMap { $0["name"]?.stringValue }
      #expect(!names.contains { $0.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202e } }, "seed \(seed)")
    }
    // They still find a peer that arrives now.
    let evasUser = try NotesUser("Eva")
    let eva = try evasUser.startInTheOpen(prefix: network.prefix(2))
    try NotesProcess.wait(for: "Eva to be found", of: [ana, ben, eva]) {
      try ana.request("notes/peers")["peers"]?.arrayValue?.contains { $0["name"] == "Eva" } == true
    }
    for process in [ana, ben, eva] { try process.shutdown() }
  }
}
