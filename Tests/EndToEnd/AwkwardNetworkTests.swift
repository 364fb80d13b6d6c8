import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Awkward networks: another responder, no responder, no network, a network that changes.
@Suite(
  .ownThreads, .serialized, .enabled(if: Requirements.binary, Requirements.binaryComment),
  .enabled(
    if: NetworkNamespaces.problem == nil,
    "SKIPPED: network namespaces are not allowed here: \(NetworkNamespaces.problem ?? "")"))
struct AwkwardNetworkTests {}

extension AwkwardNetworkTests {
  /// Its folder is not in every user's `PATH`.
  private static let responder =
    NotesBinary.find("avahi-daemon")
    ?? ["/usr/sbin/avahi-daemon"].first { FileManager.default.isExecutableFile(atPath: $0) }

  private func state(of name: String, at process: NotesProcess) throws -> String? {
    try process.request("notes/peers")["peers"]?.arrayValue?.first { $0["name"]?.stringValue == name }?["state"]?
      .stringValue
  }

  private func waitUntilFound(_ ana: NotesProcess, _ ben: NotesProcess, _ what: String) throws {
    try NotesProcess.wait(for: what, of: [ana, ben]) {
      let both = [try state(of: "Ben", at: ana), try state(of: "Ana", at: ben)]
      return both.allSatisfy { $0 == "nearby" || $0 == "known" || $0 == "connected" }
    }
  }

  /// Shares a note by ticket and types on both sides.
  private func typeTogether(_ ana: NotesProcess, _ ben: NotesProcess) throws {
    let note = try ana.request("notes/create", ["title": "Plans", "text": "one\n"])
    let anas = try ModelClient(ana, note: note)
    let shared = try ana.request("notes/share", ["id": .string(anas.id)])
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": shared["ticket"] ?? .null]))
    bens.edit(4..<4, with: "by Ben\n")
    anas.edit(0..<0, with: "by Ana\n")
    try ModelClient.waitForConvergence([anas, bens])
    #expect(anas.text.string == "by Ana\none\nby Ben\n")
  }

  /// The system's own responder runs on Ana's machine and owns the port, as on most desktops.
  @Test(.enabled(if: responder != nil, "SKIPPED: needs the program avahi-daemon"))
  func besideTheSystemsResponderBothAreHeard() throws {
    let responder = try #require(Self.responder)
    let network = try NetworkNamespaces(count: 2)
    let directory = try TemporaryDirectory()
    let configuration = directory.file("avahi.conf")
    try "[server]\nhost-name=desktop\nenable-dbus=no\nuse-ipv6=no\n[publish]\npublish-workstation=yes\n"
      .write(toFile: configuration, atomically: true, encoding: .utf8)
    // The responder keeps its files below /run, so it gets a /run of its own.
    let daemon = try ChildProcess(
      network.prefix(0) + [
        "unshare", "-m", "sh", "-c",
        "mount -t tmpfs none /run && exec \(responder) --no-drop-root --no-chroot --no-rlimits -f \(configuration)",
      ])
    try daemon.wait(for: "the responder", until: .now + Patience.hang) {
      String(decoding: $0.errorOutput, as: UTF8.self).contains("Server startup complete")
    }
    let (anasUser, bensUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let ana = try anasUser.startInTheOpen(prefix: network.prefix(0))
    let ben = try bensUser.startInTheOpen(prefix: network.prefix(1))
    let start = ContinuousClock.now
    try waitUntilFound(ana, ben, "being found beside a responder")
    print("beside a running avahi-daemon two find each other after \(ContinuousClock.now - start)")
    #expect(try ana.request("notes/status")["discovery"] == "on")
    try typeTogether(ana, ben)
    #expect(daemon.exit == nil, "the responder is undisturbed")
  }

  /// Another program has the port and does not share it: the service finds no nearby people, everything else works, and
  /// the status shows the reason.
  @Test func whereThePortIsTakenTicketsWorkAndTheReasonIsSaid() throws {
    let network = try NetworkNamespaces(count: 2)
    let python = try #require(NotesBinary.find("python3"))
    let script = """
      import socket, sys
      s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 5353))
      try:
          t = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); t.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
          t.bind(("::", 5353))
      except OSError: pass
      print("bound", flush=True); sys.stdin.read()
      """
    let squatter = try ChildProcess(network.prefix(0) + [python, "-c", script])
    try squatter.wait(for: "the port to be taken", until: .now + Patience.hang) { !$0.output.isEmpty }
    let (anasUser, bensUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let ana = try anasUser.startInTheOpen(prefix: network.prefix(0))
    let ben = try bensUser.startInTheOpen(prefix: network.prefix(1))
    try ana.waitFor("the reason") {
      let discovery = try ana.request("notes/status")["discovery"]?.stringValue ?? "on"
      return discovery != "on" && discovery != "off"
    }
    let reason = try ana.request("notes/status")["discovery"]?.stringValue ?? ""
    print("with port 5353 taken the status says: \(reason)")
    #expect(try ana.request("notes/status")["network"] == "on")
    try typeTogether(ana, ben)
  }

  /// Without discovery and without typing, one machine gets another address: the system reports it, and the service
  /// calls the other person at once.
  @Test func withoutDiscoveryANewAddressIsNoticedTooAtOnce() throws {
    let network = try NetworkNamespaces(count: 2)
    let (anasUser, bensUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let ana = try anasUser.startInTheOpen(prefix: network.prefix(0), options: ["--no-discovery"])
    let ben = try bensUser.startInTheOpen(prefix: network.prefix(1), options: ["--no-discovery"])
    try typeTogether(ana, ben)
    try network.setAddress(0, "10.91.0.77")
    let change = ContinuousClock.now
    try ben.waitFor("the new address") {
      let peers = try ben.request("notes/peers")["peers"]?.arrayValue ?? []
      try ana.collect()
      return peers.contains { peer in
        peer["state"] == "connected" && peer["via"]?.stringValue?.contains("10.91.0.77") == true
      }
    }
    let pause = ContinuousClock.now - change
    print("without discovery connected again \(pause) after the address changed")
  }

  /// The partition outlasts every link, and neither machine notices its beginning or end. The test takes two minutes,
  /// so it runs only with `NOTES_LONG_PARTITIONS=1`.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["NOTES_LONG_PARTITIONS"] != nil,
      "SKIPPED: takes two minutes; set NOTES_LONG_PARTITIONS=1"))
  func whatOutlivesTheLinksUnnoticedHealsWithinTwoSeconds() throws {
    let network = try NetworkNamespaces(count: 2)
    let (anasUser, bensUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let ana = try anasUser.startInTheOpen(prefix: network.prefix(0))
    let ben = try bensUser.startInTheOpen(prefix: network.prefix(1))
    let note = try ana.request("notes/create", ["title": "Plans", "text": "one\n"])
    let anas = try ModelClient(ana, note: note)
    let shared = try ana.request("notes/share", ["id": .string(anas.id)])
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": shared["ticket"] ?? .null]))
    try ModelClient.waitForConvergence([anas, bens])
    let limit: Duration = .seconds(2)
    for (round, seconds) in [60, 61].enumerated() {
      try network.setReachable(1, false)
      anas.edit(0..<0, with: "a\(round) ")
      bens.edit(0..<0, with: "b\(round) ")
      for client in [anas, bens] { client.flush() }
      try NotesProcess.listen(to: [anas.process, bens.process], for: .seconds(seconds))
      let peers = try ana.request("notes/peers")["peers"]?.arrayValue ?? []
      #expect(!peers.contains { $0["state"] == "connected" }, "the link has been given up")
      try network.setReachable(1, true)
      let healed = ContinuousClock.now
      try ModelClient.waitForConvergence([anas, bens], checked: false)
      let pause = ContinuousClock.now - healed
      print("a partition of \(seconds) s that no process noticed healed after \(pause)")
      #expect(pause < limit)
    }
  }

  /// From no network to one, and from one address to another, without a restart.
  @Test func aNetworkThatComesLateAndChangesIsNoticed() throws {
    let network = try NetworkNamespaces(count: 2)
    try network.setInterface(0, isUp: false)
    let (anasUser, bensUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let ana = try anasUser.startInTheOpen(prefix: network.prefix(0))
    let ben = try bensUser.startInTheOpen(prefix: network.prefix(1))
    // Without a network, Ana can write, and the service tells her why no peer connects.
    let note = try ana.request("notes/create", ["title": "Alone", "text": "one\n"])
    let alone = try ModelClient(ana, note: note)
    alone.edit(0..<0, with: "by Ana\n")
    try ana.waitFor("the reason") {
      try ana.request("notes/status")["discovery"]?.stringValue?.contains("no network") == true
    }
    try network.setInterface(0, isUp: true)
    let start = ContinuousClock.now
    try waitUntilFound(ana, ben, "being found once there is a network")
    print("found \(ContinuousClock.now - start) after the network came")
    try typeTogether(ana, ben)
    try network.setAddress(0, "10.91.0.77")
    let change = ContinuousClock.now
    try ben.waitFor("the new address") {
      let peers = try ben.request("notes/peers")["peers"]?.arrayValue ?? []
      try ana.collect()
      return peers.contains { peer in
        peer["name"] == "Ana" && peer["state"] == "connected"
          && peer["via"]?.stringValue?.contains("10.91.0.77") == true
      }
    }
    let pause = ContinuousClock.now - change
    print("connected again \(pause) after the address changed")
    #expect(try ana.request("notes/status")["discovery"] == "on")
  }
}
