import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Peers that say what no peer of ours would say, over real encrypted links: strangers, and some that may write a note.
@Suite(.serialized) struct HostilePeerTests {}

extension HostilePeerTests {
  /// Everything that is sent to one person, and whether it survives.
  @AutomergeRepo
  private final class Siege {
    let loop: Loop
    let ana: Person
    let ben: Person
    let note: DocHandle
    let copy: DocHandle
    private(set) var caseCount = 0
    /// What the costliest case costs, and the longest time that one took.
    private(set) var (slowest, longest) = (Duration.zero, Duration.zero)
    /// The most that a case may cost.
    static let limit: Duration = .milliseconds(100)
    /// How often something is done again whose cost seems too high: the other suites work on the same thread meanwhile.
    static let maximumAttempts = 40

    init(_ loop: Loop) async throws {
      self.loop = loop
      ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      note = try ana.repo.create(try .note("soup"))
      let ticket = try #require(try await ana.directory.share(note.id))
      copy = try await ben.find(try await ben.directory.join(ticket))
    }

    /// An attacker that has joined as a peer; `mayWrite` the note.
    func attacker(mayWrite: Bool) async throws -> RawPeer {
      let identity = Identity()
      if mayWrite { try await ana.grants.grant(.write, on: note.id, to: identity.peerId) }
      let raw = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop, as: identity)
      try raw.join()
      try await eventually("joined", on: loop) { raw.isClosed || !raw.messages.isEmpty }
      return raw
    }

    /// Sends bytes as they are, and waits until they have been dealt with: a ping behind them is answered, or the link is
    /// closed.
    func send(_ bytes: [UInt8], by raw: RawPeer) async throws {
      caseCount += 1
      let start = MonotonicTime.now
      var least = try await cost(of: bytes, by: raw)
      longest = max(longest, MonotonicTime.now - start)
      // What bytes cost, they cost each time.
      var attempts = 1
      while least >= Self.limit, attempts < Self.maximumAttempts {
        attempts += 1
        let other = try await attacker(mayWrite: true)
        least = min(least, try await cost(of: bytes, by: other))
        other.stream.close()
      }
      slowest = max(slowest, least)
    }

    private func cost(of bytes: [UInt8], by raw: RawPeer) async throws -> Duration {
      try await cost {
        raw.send(bytes)
        try await raw.pinged()
      }
    }

    /// How long the loop's thread, on which both sides run, has the processor for something. Other suites count if they
    /// run.
    func cost(of body: () async throws -> Void) async throws -> Duration {
      let start = threadTime
      try await body()
      return threadTime - start
    }

    /// How long the loop's thread has had the processor.
    private var threadTime: Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The peers that behave are not disturbed.
    func checkThatTheOthersAreWell() async throws {
      try note.splice(0, "a")
      try copy.splice(0, "b")
      try await eventually("equal", on: loop) { self.note.document.heads() == self.copy.document.heads() }
      #expect(ana.provider.isConnected(ben.peerId))
      #expect(try note.document.content()?.hasSuffix("soup") == true)
    }

    func end() async throws { for person in [ana, ben] { try await person.stop() } }
  }

  /// Memory that the process holds, in bytes.
  private var residentByteCount: Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
  }

  private static let successor = DocumentId(bytes: [UInt8](repeating: 9, count: 16))?.description ?? ""

  /// One of each message that there is, as it would be right.
  private func messages(from sender: PeerId, to target: PeerId, on document: DocumentId) -> [RepoMessage] {
    let sync = (try? Document.note("evil")).flatMap { $0.generateSyncMessage(state: SyncState()) } ?? Data()
    let text = CBOR.text(document.description)
    let guest = GuestList.Guest(peer: sender, access: .write, name: "x", addresses: [])
    return [
      .join(senderId: sender, metadata: PeerMetadata(name: "x"), versions: ["1"]),
      .peer(senderId: sender, targetId: target, metadata: PeerMetadata(name: "x"), version: "1"),
      .document(.init(senderId: sender, targetId: target, documentId: document, content: .sync(sync))),
      .document(.init(senderId: sender, targetId: target, documentId: document, content: .request(sync))),
      .document(.init(senderId: sender, targetId: target, documentId: document, content: .unavailable)),
      .ephemeral(
        .init(
          senderId: sender, targetId: target, documentId: document, count: 1, sessionId: "s",
          data: Data(CBOR.record(["__presence": CBOR.record(["x": .integer(1)])]).encoded()))),
      .error(senderId: sender, targetId: target, message: "no"),
      .other(type: "ticket", fields: ["documentId": text, "secret": .bytes(Data(count: 16))]),
      .other(type: "ticket", fields: ["documentId": text, "accepted": true, "access": "write"]),
      .other(
        type: "invite",
        fields: [
          "invitation": .bytes(Data(count: 16)), "documentId": text, "access": "write", "title": "x", "name": "y",
          "commitment": .bytes(Data(count: 32)),
        ]),
      .other(type: "invite", fields: ["invitation": .bytes(Data(count: 16)), "nonce": .bytes(Data(count: 32))]),
      .other(type: "invite", fields: ["invitation": .bytes(Data(count: 16)), "granted": "write"]),
      .other(type: "invite-answer", fields: ["invitation": .bytes(Data(count: 16)), "accept": true]),
      .other(type: "name", fields: ["name": "z\u{1b}[2J"]),
      .other(type: "guests", fields: GuestList(document: document, guests: [guest]).fields),
      .other(type: "reach", fields: ["documentId": text, "peers": .array([.text(sender.description)])]),
      .other(type: "author", fields: ["documentId": text, "actors": .array([.bytes(Data(count: 16))]), "asks": true]),
      .other(type: "vouch", fields: ["documentId": text, "changes": .bytes(Data(count: 64))]),
      .other(type: "vouch", fields: ["documentId": text, "changes": .bytes(Data(count: 32)), "known": .bytes(Data())]),
      .other(type: "signed", fields: ["documentId": text, "signatures": .array([.bytes(Data(count: 152))])]),
      .other(type: "signed", fields: ["documentId": text, "digest": .bytes(Data(count: 32))]),
      .other(
        type: "moved",
        fields: [
          "documentId": text, "successor": .text(Self.successor),
          "heads": .array([.bytes(Data(count: 32))]), "removed": .array([.text(target.description)]),
        ]),
      .other(type: "catalogue", fields: ["digest": .bytes(Data(count: 32))]),
      .other(type: "of the future", fields: ["x": .array([.null, .undefined, .float(.nan)])]),
    ]
  }

  @Test(arguments: [false, true]) func damagedMessagesDoNoHarm(mayWrite: Bool) async throws {
    let seed: UInt64 = 7
    var random = SeededGenerator(seed: seed)
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      let before = self.residentByteCount
      var raw = try await siege.attacker(mayWrite: mayWrite)
      for round in 0..<70 {
        for message in self.messages(from: raw.peerId, to: siege.ana.peerId, on: siege.note.id) {
          if raw.isClosed { raw = try await siege.attacker(mayWrite: mayWrite) }
          var body = message.encoded()
          switch round % 5 {
          case 0: body = Array(body.prefix(Int.random(in: 1...body.count, using: &random)))
          case 1: body[Int.random(in: 0..<body.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
          case 2:
            body.insert(UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0..<body.count, using: &random))
          case 3: for index in body.indices where Int.random(in: 0..<20, using: &random) == 0 { body[index] ^= 0xff }
          default: break
          }
          try await siege.send(try Frame.encode(body), by: raw)
        }
      }
      #expect(siege.caseCount >= 1000)
      let growth = self.residentByteCount - before
      print(
        "\(siege.caseCount) damaged messages: \(siege.slowest) for the slowest, \(siege.longest) in all, "
          + "\(growth >> 10) KiB of memory more")
      #expect(growth < 64 << 20, "seed \(seed)")
      #expect(siege.slowest < Siege.limit, "seed \(seed)")
      try await siege.checkThatTheOthersAreWell()
      // Nothing was granted, joined or believed.
      #expect(siege.ana.grants.peers(on: siege.note.id).count <= 1 + siege.caseCount)
      #expect(siege.ana.directory.receivedInvitations.isEmpty)
      raw.stream.close()
      try await siege.end()
    }
  }

  @Test func wrongKindsOfValuesDoNoHarm() async throws {
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      var raw = try await siege.attacker(mayWrite: true)
      let values: [CBOR] = [
        .null, .undefined, .bool(true), .integer(-1), .unsigned(.max), .float(.nan), .float(-1e300), .text(""),
        .text(String(repeating: "x", count: 3000)), .text("\u{202e}../..\u{0}"), .bytes(Data()),
        .bytes(Data(count: 3000)), .array([]), .map([]), .simple(99),
        .array(Array(repeating: .text("a"), count: 500)),
      ]
      for message in self.messages(from: raw.peerId, to: siege.ana.peerId, on: siege.note.id) {
        guard case .map(let entries) = try CBOR(message.encoded()) else { continue }
        for index in entries.indices {
          for value in values + [nil] as [CBOR?] {
            if raw.isClosed { raw = try await siege.attacker(mayWrite: true) }
            var changed = entries
            if let value { changed[index].value = value } else { changed.remove(at: index) }
            let body = CBOR.map(changed).encoded()
            guard body.count <= Frame.maximumByteCountBeforeHandshake else { continue }
            try await siege.send(try Frame.encode(body), by: raw)
          }
        }
      }
      #expect(siege.caseCount > 500)
      print("\(siege.caseCount) values of wrong kinds: \(siege.slowest) for the slowest")
      #expect(siege.slowest < Siege.limit)
      try await siege.checkThatTheOthersAreWell()
      raw.stream.close()
      try await siege.end()
    }
  }

  @Test func unusualBytesDoNoHarm() async throws {
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      let hostile: [[UInt8]] = [
        [UInt8](repeating: 0x81, count: 4000), [UInt8](repeating: 0xa1, count: 4000),
        [UInt8](repeating: 0xc1, count: 4000),
        [0x9f, 0x9f, 0x9f], [0xbf, 0x61, 0x61], [0x5f, 0x41], [0x7f, 0x61, 0xff], [0xba, 0xff, 0xff, 0xff, 0xff],
        [0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0x5b, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff], [0xff], [0xf8], [0xfb, 0], [0x1c], [0xdb, 1],
      ]
      for mayWrite in [false, true] {
        for body in hostile {
          let raw = try await siege.attacker(mayWrite: mayWrite)
          try await siege.send(try Frame.encode(body), by: raw)
          raw.stream.close()
        }
        for header in [[0, 0, 0, 0], [0x80, 0, 0, 0], [0xff, 0xff, 0xff, 0xff], [0x04, 0, 0, 1]] as [[UInt8]] {
          let raw = try await siege.attacker(mayWrite: mayWrite)
          try await siege.send(header, by: raw)
          #expect(raw.isClosed)
        }
        // A length, and then nothing; and every frame in pieces of one byte.
        let patient = try await siege.attacker(mayWrite: mayWrite)
        patient.send([0, 0, 0, 9, 0xa1])
        let slow = try await siege.attacker(mayWrite: mayWrite)
        for byte in try Frame.encode(RepoMessage.other(type: "ping", fields: [:]).encoded()) { slow.send([byte]) }
        try await eventually("answered", on: loop) { slow.messages.contains(.other(type: "pong", fields: [:])) }
        for raw in [patient, slow] { raw.stream.close() }
      }
      print("\(siege.caseCount) unusual bytes: \(siege.slowest) for the slowest")
      #expect(siege.slowest < Siege.limit)
      try await siege.checkThatTheOthersAreWell()
      try await siege.end()
    }
  }

  /// A certificate carries a key and nothing else: one of a peer whose clock is wrong is as good as any.
  @Test func certificatesThatAreOverOrYetToComeAreAsGoodAsOthers() async throws {
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      for validity in [("19700101000000Z", "19700102000000Z"), ("99980101000000Z", "99990101000000Z")] {
        let raw = try await RawPeer.connect(
          to: try #require(siege.ana.directory.listening), on: loop, validity: validity)
        try raw.join()
        try await eventually("let in", on: loop) { raw.isClosed || !raw.messages.isEmpty }
        #expect(!raw.isClosed)
        raw.stream.close()
      }
      try await siege.end()
    }
  }

  @Test func halfAFrameAndThenAnEndAResetOrNothingDoesNoHarm() async throws {
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      let frame = try Frame.encode(RepoMessage.other(type: "ping", fields: [:]).encoded())
      for mayWrite in [false, true] {
        for count in 1..<frame.count {
          let raw = try await siege.attacker(mayWrite: mayWrite)
          raw.send(Array(frame.prefix(count)))
          // An end of what it sends, or of everything.
          if count % 2 == 0 { raw.stream.shutdownThenClose(within: .seconds(5)) } else { raw.stream.close() }
        }
      }
      try await eventually("they are gone", on: loop) { siege.ana.provider.links.count == 1 }
      try await siege.checkThatTheOthersAreWell()
      try await siege.end()
    }
  }

  /// Tickets that do not open the door: what they get, and what that costs.
  @Test func ticketsThatAreWrongUsedOrExpiredGetNothingAndCostLittle() async throws {
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      let used = try #require(try await siege.ana.directory.share(siege.note.id))
      _ = try await siege.ben.directory.join(used)
      let expired = try #require(try await siege.ana.directory.share(siege.note.id, expiresIn: .seconds(-5)))
      for (what, secret) in [
        ("wrong", [UInt8](repeating: 7, count: 16)), ("used", used.secret), ("expired", expired.secret),
      ] {
        var (least, attempts) = (Duration.seconds(3600), 0)
        while attempts < 4 || least >= .milliseconds(5) && attempts < Siege.maximumAttempts {
          attempts += 1
          let raw = try await siege.attacker(mayWrite: false)
          let fields = TicketMessage.present(siege.note.id, secret: secret).fields
          let message = RepoMessage.other(type: TicketMessage.type, fields: fields)
          least = min(
            least, try await siege.cost(of: { try await siege.send(try Frame.encode(message.encoded()), by: raw) }))
          let answers = raw.messages.filter { if case .other(TicketMessage.type, _) = $0 { true } else { false } }
          #expect(answers.count <= 1)
          #expect(
            raw.messages.allSatisfy { message in
              if case .document(let message) = message, case .sync = message.content { false } else { true }
            })
          #expect(siege.ana.grants.access(siege.note.id, for: raw.peerId) == .none)
          raw.stream.close()
        }
        print("refused, a ticket that is \(what): \(least) of the processor at least, both sides")
        #expect(least < .milliseconds(5), "\(what)")
      }
      try await siege.end()
    }
  }

  /// Each subscription could cost something at every peer, however little each stranger sends.
  @Test func whatStrangersSubscribeToIsPassedOnToNobody() async throws {
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      var strangers: [RawPeer] = []
      for _ in 0..<16 { strangers.append(try await siege.attacker(mayWrite: false)) }
      let count = siege.ana.provider.sentCount
      for (number, raw) in strangers.enumerated() {
        for part in 0..<8 {
          let stores = (0..<32).map { CBOR.text("store \(number) \(part) \($0)") }
          try raw.send(
            .other(
              type: "remote-subscription-change",
              fields: [
                "senderId": .text(raw.peerId.description), "targetId": .text(siege.ana.peerId.description),
                "add": .array(stores),
              ]))
        }
        try await raw.pinged()
      }
      let subscriptions = strangers.flatMap { $0.fields(ofType: "remote-subscription-change") }
      #expect(subscriptions.isEmpty && siege.ana.provider.sentCount == count)
      try await siege.checkThatTheOthersAreWell()
      for raw in strangers { raw.stream.close() }
      try await siege.end()
    }
  }

  @Test func aStormOfCallersLeavesRoomForTheOthers() async throws {
    try await TestLoop.run { loop in
      let siege = try await Siege(loop)
      let address = try #require(siege.ana.directory.listening)
      var callers: [RawPeer] = []
      for _ in 0..<200 { callers.append(try await RawPeer.connect(to: address, on: loop, isEncrypted: false)) }
      #expect(siege.ana.provider.links.count <= TCPProvider.maximumConnections)
      try await siege.checkThatTheOthersAreWell()
      for caller in callers { caller.stream.close() }
      try await eventually("all gone", on: loop) { siege.ana.provider.links.count == 1 }
      _ = try await siege.attacker(mayWrite: false)
      try await siege.end()
    }
  }
}
