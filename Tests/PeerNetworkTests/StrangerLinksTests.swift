import RepoTestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

/// Which stranger's link makes room for a caller.
struct StrangerLinksTests {
  private final class Token {}

  /// Links from these hosts, one second apart.
  private func links(_ hosts: [String], awaited: Set<Int> = []) -> [(StrangerLinks.Link, Token)] {
    hosts.enumerated().map { index, host in
      let token = Token()
      let link = StrangerLinks.Link(
        id: ObjectIdentifier(token), host: host, openedAt: .seconds(index), isAwaited: awaited.contains(index))
      return (link, token)
    }
  }

  private func evicted(for host: String, _ links: [(StrangerLinks.Link, Token)]) -> Int? {
    let id = StrangerLinks.evicted(for: host, among: links.map(\.0))
    return links.firstIndex { $0.0.id == id }
  }

  @Test func whereThereIsRoomNoLinkIsClosed() {
    #expect(evicted(for: "10.0.0.1", links([])) == nil)
    #expect(evicted(for: "10.0.0.1", links((0..<31).map { "10.0.0.\($0)" })) == nil)
  }

  @Test func anAddressThatHasItsShareGivesUpItsOwnOldest() {
    let some = links(["10.0.0.9"] + Array(repeating: "10.0.0.1", count: StrangerLinks.maximumPerAddress))
    #expect(evicted(for: "10.0.0.1", some) == 1)
    #expect(evicted(for: "10.0.0.9", some) == nil)
  }

  @Test func whereAllPlacesAreTakenTheGreediestAddressGivesOneUp() {
    let others = (0..<StrangerLinks.maximumCount - 3).map { "10.0.1.\($0)" }
    let some = links(others + Array(repeating: "10.0.0.1", count: 3))
    #expect(evicted(for: "10.0.0.2", some) == others.count)
  }

  @Test func aPeerThatOurPersonWaitsForGoesLast() {
    let hosts = Array(repeating: "10.0.0.1", count: StrangerLinks.maximumPerAddress)
    #expect(evicted(for: "10.0.0.1", links(hosts, awaited: [0, 1])) == 2)
    #expect(evicted(for: "10.0.0.1", links(hosts, awaited: Set(hosts.indices))) == 0)
  }

  @Test func aNetworkOfIPv6IsOneAddressAndMachinesOnOneLinkAreMany() {
    let routed = (0..<StrangerLinks.maximumPerAddress).map { "2001:db8::\($0 + 1)" }
    #expect(evicted(for: "2001:db8::ffff:1", links(routed)) == 0)
    #expect(evicted(for: "2001:db8:1::1", links(routed)) == nil)
    let local = (0..<StrangerLinks.maximumPerAddress).map { "fe80::\($0 + 1)" }
    #expect(evicted(for: "fe80::ffff", links(local)) == nil)
  }
}
