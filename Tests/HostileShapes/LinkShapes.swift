@testable import PeerTransport

/// Callers from a few addresses in any order, and one link whose other side reads when it likes.
///
/// Strangers take no more places than there are, and none from an address that holds fewer of them than another; what waits to
/// be sent to a peer stays small, and pings that come while it does not read get one answer.
public enum LinkShapes {
  public static func check(_ input: [UInt8]) throws {
    var script = Script(input)
    var (callers, link) = (Callers(), Link(isTrusted: script.bit()))
    while !script.isOver { if script.bit() { try callers.step(&script) } else { try link.step(&script) } }
  }

  /// Strangers' links, as the listener keeps them.
  private struct Callers {
    private final class Token {}

    /// Hosts, and which of them count as one address.
    private static let hosts: [(host: String, source: Int)] = [
      ("192.0.2.1", 0), ("192.0.2.2", 1), ("192.0.2.3", 2), ("198.51.100.1", 3), ("198.51.100.2", 4),
      ("203.0.113.1", 5),
      ("2001:db8::1", 6), ("2001:db8::ffff", 6), ("2001:db8:0:1::1", 7), ("fe80::1", 8), ("fe80::2", 9),
      ("no address", 10),
    ]

    private var links: [(token: Token, link: StrangerLinks.Link, source: Int)] = []
    private var now = Duration.zero

    mutating func step(_ script: inout Script) throws {
      now += .milliseconds(script.below(200))
      if script.below(8) == 0, !links.isEmpty { links.remove(at: script.below(links.count)) }
      let (host, source) = Self.hosts[script.below(Self.hosts.count)]
      func count(_ source: Int) -> Int { links.count { $0.source == source } }
      if let id = StrangerLinks.evicted(for: host, among: links.map(\.link)) {
        guard let place = links.firstIndex(where: { $0.link.id == id }) else {
          throw Broken(description: "a link was closed that is not there")
        }
        let (isOwn, most) = (links[place].source == source, (0...10).map(count).max() ?? 0)
        try Broken.unless(
          isOwn
            ? count(source) >= StrangerLinks.maximumPerAddress || count(source) == most
            : links.count >= StrangerLinks.maximumCount && count(links[place].source) == most,
          "an address lost a link to a greedier one")
        links.remove(at: place)
      }
      let token = Token()
      let link = StrangerLinks.Link(
        id: ObjectIdentifier(token), host: host, openedAt: now, isAwaited: script.below(4) == 0)
      links.append((token, link, source))
      try Broken.unless(links.count <= StrangerLinks.maximumCount, "\(links.count) links of strangers")
      try Broken.unless(count(source) <= StrangerLinks.maximumPerAddress, "\(count(source)) links of one address")
    }
  }

  /// The bytes that wait for one peer.
  private struct Link {
    private static let pongByteCount = 30

    let isTrusted: Bool
    private var pressure = BackPressure()
    private var unsent = 0
    /// Pongs among them.
    private var pongs = 0
    private var isTold = false

    init(isTrusted: Bool) { self.isTrusted = isTrusted }

    mutating func step(_ script: inout Script) throws {
      switch script.below(4) {
      case 0:
        // A stranger that is not read from asks for nothing, and gets no other message.
        guard !BackPressure.pausesReading(unsentByteCount: unsent, isTrusted: isTrusted) else { return }
        unsent += script.below(256) << (isTrusted ? 14 : 7)
        if !BackPressure.permits(unsentByteCount: unsent, isTrusted: isTrusted) { self = Link(isTrusted: isTrusted) }
      case 1: if pressure.answersPing(unsentByteCount: unsent) { answer() }
      case 2: if pressure.crowds(unsentByteCount: unsent, isMuchForAll: script.bit()) { try tell(true) }
      default:
        // All of it has left.
        (unsent, pongs) = (0, 0)
        if pressure.takeCrowding() { try tell(false) }
        if pressure.takeOwedPong() { answer() }
      }
      try Broken.unless(pongs <= 1, "\(pongs) answers to pings wait")
      try Broken.unless(pressure.isCrowded == isTold, "crowding that was not reported")
      let limit = isTrusted ? BackPressure.maximumByteCount : BackPressure.maximumByteCountOfStranger
      try Broken.unless(unsent <= limit + Self.pongByteCount, "\(unsent) bytes wait")
    }

    private mutating func answer() {
      unsent += Self.pongByteCount
      pongs += 1
    }

    private mutating func tell(_ isCrowded: Bool) throws {
      try Broken.unless(isTold != isCrowded, "told twice that the link is \(isCrowded ? "" : "not ")crowded")
      isTold = isCrowded
    }
  }
}
