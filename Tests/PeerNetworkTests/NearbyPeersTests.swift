import AutomergeRepo
import Testing

@testable import PeerNetwork
@testable import PeerTransport

struct NearbyPeersTests {
  private let local = Identity().peerId
  private let ben = Identity().peerId

  private func source(_ interface: Int32, _ service: String = "notes") -> NearbyPeers.Source {
    NearbyPeers.Source(interface: interface, networkProtocol: 0, service: service)
  }

  private func announcement(of peer: PeerId, name: String = "Ben", port: UInt16 = 7000) -> Announcement {
    Announcement(peer: peer, name: name, port: port)
  }

  @Test func aPeerIsThereForAsLongAsAnyInterfaceHearsIt() {
    var nearby = NearbyPeers(local: local)
    let first = nearby.hear(announcement(of: ben), at: "10.0.0.2", from: source(1))
    #expect(first == [.appeared(.init(peer: ben, name: "Ben", addresses: [PeerAddress(host: "10.0.0.2", port: 7000)]))])
    #expect(nearby.hear(announcement(of: ben), at: "10.0.0.2", from: source(1)) == [])
    guard case .changed(let both)? = nearby.hear(announcement(of: ben), at: "192.168.0.2", from: source(2)).first else {
      Issue.record("another address is news")
      return
    }
    #expect(both.addresses.map(\.host) == ["10.0.0.2", "192.168.0.2"])
    #expect(nearby.peers == [both])
    guard case .changed(let rest)? = nearby.lose(source(1)) else {
      Issue.record("one address less is news")
      return
    }
    #expect(rest.addresses.map(\.host) == ["192.168.0.2"])
    #expect(nearby.lose(source(2)) == .vanished(ben, name: "Ben"))
    #expect(nearby.lose(source(2)) == nil)
    #expect(nearby.peers.isEmpty)
  }

  @Test func newNamesAreHeardAndOurselvesAreNot() {
    var nearby = NearbyPeers(local: local)
    #expect(nearby.hear(announcement(of: local), at: "10.0.0.1", from: source(1)) == [])
    _ = nearby.hear(announcement(of: ben), at: "10.0.0.2", from: source(1))
    let changes = nearby.hear(announcement(of: ben, name: "B"), at: "10.0.0.2", from: source(1))
    guard case .changed(let renamed)? = changes.first else {
      Issue.record("a name is news")
      return
    }
    #expect(renamed.name == "B")
  }

  @Test func aServiceThatClaimsAnotherIdReplacesItsOwnEntry() {
    var nearby = NearbyPeers(local: local)
    let eve = Identity().peerId
    _ = nearby.hear(announcement(of: ben), at: "10.0.0.2", from: source(1))
    let changes = nearby.hear(announcement(of: eve, name: "Ben"), at: "10.0.0.2", from: source(1))
    #expect(changes.first == .vanished(ben, name: "Ben"))
    guard case .appeared(let other)? = changes.last else {
      Issue.record("another peer is news")
      return
    }
    #expect(other.peer == eve)
    #expect(nearby.peers.map(\.peer) == [eve])
    // A record of ours, reflected, ends what was heard there.
    #expect(nearby.hear(announcement(of: local), at: "10.0.0.2", from: source(1)) == [.vanished(eve, name: "Ben")])
    // What is still heard of it elsewhere stays.
    _ = nearby.hear(announcement(of: ben), at: "10.0.0.2", from: source(1))
    _ = nearby.hear(announcement(of: ben), at: "192.168.0.2", from: source(2))
    guard
      case .changed(let rest)? = nearby.hear(announcement(of: eve), at: "10.0.0.2", from: source(1)).first
    else {
      Issue.record("one address less is news")
      return
    }
    #expect(rest.peer == ben && rest.addresses.map(\.host) == ["192.168.0.2"])
  }

  @Test func aFloodIsForgotten() {
    var nearby = NearbyPeers(local: local)
    for number in 0..<2_000 {
      _ = nearby.hear(
        announcement(
          of: Identity.peerId(of: Array(repeating: UInt8(truncatingIfNeeded: number), count: 31) + [UInt8(number >> 8)])
        ),
        at: "10.0.0.2", from: source(1, "\(number)"))
    }
    #expect(nearby.peers.count <= NearbyPeers.maximumSources)
    #expect(nearby.peers.allSatisfy { $0.addresses.count == 1 })
    #expect(nearby.loseAll().count > 100)
    #expect(nearby.peers.isEmpty)
  }

  @Test func recordsThatNoServiceOfOursWroteAreIgnored() {
    let id = ben.description
    for texts in [
      [:], ["v": "1"], ["v": "2", "peer_id": id], ["v": "1", "peer_id": ""], ["v": "1", "peer_id": "hello"],
      ["v": "1", "peer_id": id + "a"], ["v": "1", "peer_id": String(id.dropLast())], ["peer_id": id],
    ] as [[String: String]] {
      #expect(Announcement(texts: texts, port: 7000) == nil, "\(texts)")
    }
    let good = ["v": "1", "peer_id": id]
    #expect(Announcement(texts: good, port: 0) == nil)
    #expect(Announcement(texts: good, port: 7000)?.name == String(id.prefix(8)))
    var nearby = NearbyPeers(local: local)
    for host in ["", "0.0.0.0", "::", "evil.example.org", "10.0.0.2; rm", "*"] {
      #expect(nearby.hear(Announcement(texts: good, port: 1), at: host, from: source(1)) == [])
    }
  }

  @Test func namesAreFitToShowAndToAnnounce() throws {
    let texts = ["v": "1", "peer_id": ben.description, "name": "B\u{1b}[31men\u{202e}\n"]
    #expect(Announcement(texts: texts, port: 1)?.name == "B[31men")
    for name in ["", "Ben", String(repeating: "é", count: 500), "a\u{0}b", String(repeating: "👩‍👩‍👧‍👦", count: 60)] {
      let announcement = announcement(of: ben, name: name)
      for (key, value) in announcement.texts { #expect("\(key)=\(value)".utf8.count <= 255) }
      let pairs = Dictionary(uniqueKeysWithValues: announcement.texts.map { ($0.key, $0.value) })
      #expect(Announcement(texts: pairs, port: 7000)?.peer == ben)
    }
    #expect(announcement(of: ben).label.utf8.count <= 63)
  }
}
