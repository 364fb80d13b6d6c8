import AutomergeRepo
import PeerTransport

/// What a service on the local network says about itself. Only a link can prove it.
public struct Announcement: Hashable, Sendable {
  /// The service's kind in DNS-SD.
  public static let serviceType = "_notes-lsp._tcp"
  /// The version of the record's format.
  static let version = "1"
  /// A string of a TXT record has a length of one byte. Source: RFC 6763, section 6.1.
  private static let maximumTextByteCount = 255

  public var peer: PeerId
  public var name: String
  public var port: UInt16
  /// The service's kind, by which programs find their own.
  public var service: String

  public init(peer: PeerId, name: String, port: UInt16, service: String = Self.serviceType) {
    (self.peer, self.name, self.port, self.service) = (peer, name, port, service)
  }

  /// Reads the strings of a TXT record; nil if they are not those of a peer of our kind.
  init?(texts: [String: String], port: UInt16) {
    guard texts["v"] == Self.version, port != 0, let id = texts["peer_id"],
      Identity.fingerprint(of: PeerId(id)) != nil
    else { return nil }
    let peer = PeerId(id.lowercased())
    self.init(peer: peer, name: texts["name"].flatMap(KnownPeer.clean) ?? String(id.prefix(8)), port: port)
  }

  /// The strings of its TXT record: the peer's id and name, nothing about documents.
  var texts: [(key: String, value: String)] {
    let name = KnownPeer.clean(self.name) ?? ""
    var short = name
    while short.utf8.count > Self.maximumTextByteCount - "name=".utf8.count { short.removeLast() }
    return [("v", Self.version), ("name", short), ("peer_id", peer.description)]
  }

  /// The name of the service and its host, unlike all others.
  var label: String { Announcement.label(of: peer) }

  static func label(of peer: PeerId) -> String { "notes-" + peer.description.prefix(16) }
}

/// The peers nearby, from their announcements on each network interface.
public struct NearbyPeers: Sendable {
  /// One service, as announced on one interface and protocol.
  public struct Source: Hashable, Sendable {
    public var interface: Int32
    public var networkProtocol: Int32
    public var service: String

    public init(interface: Int32, networkProtocol: Int32, service: String) {
      (self.interface, self.networkProtocol, self.service) = (interface, networkProtocol, service)
    }
  }

  public struct Peer: Hashable, Sendable {
    public var peer: PeerId
    public var name: String
    public var addresses: [PeerAddress]
  }

  public enum Change: Hashable, Sendable {
    case appeared(Peer)
    /// Another name, other addresses.
    case changed(Peer)
    case vanished(PeerId, name: String)
  }

  /// The most sources. Further ones are ignored, so that a flood cannot fill the memory.
  static let maximumSources = 512

  private struct Heard {
    var announcement: Announcement
    var address: PeerAddress
  }

  private let local: PeerId
  private var heard: [Source: Heard] = [:]

  public init(local: PeerId) { self.local = local }

  /// All peers nearby, by name.
  public var peers: [Peer] {
    Set(heard.values.map(\.announcement.peer)).compactMap { self[$0] }.sorted {
      ($0.name, $0.peer) < ($1.name, $1.peer)
    }
  }

  /// The addresses are in a fixed order. A service whose label is the peer's own comes first, and determines the name,
  /// however many others claim to be the peer.
  public subscript(peer: PeerId) -> Peer? {
    let label = Announcement.label(of: peer)
    func rank(_ source: Source) -> (Int, Int32, Int32, String) {
      (source.service == label ? 0 : 1, source.networkProtocol, source.interface, source.service)
    }
    let entries = heard.filter { $0.value.announcement.peer == peer }.sorted { rank($0.key) < rank($1.key) }
    guard let first = entries.first else { return nil }
    var addresses: [PeerAddress] = []
    for entry in entries where !addresses.contains(entry.value.address) { addresses.append(entry.value.address) }
    return Peer(
      peer: peer, name: first.value.announcement.name, addresses: Array(addresses.prefix(Ticket.maximumAddresses)))
  }

  /// A service was heard, for the first time or again.
  public mutating func hear(_ announcement: Announcement?, at host: String, from source: Source) -> [Change] {
    guard let announcement, announcement.peer != local else { return [lose(source)].compactMap(\.self) }
    let address = PeerAddress(host: host, port: announcement.port)
    guard address.isCallable, heard[source] != nil || heard.count < Self.maximumSources else { return [] }
    // A service that now claims another peer id no longer counts for the old one.
    let isOther = heard[source].map { $0.announcement.peer != announcement.peer } ?? false
    let lost = isOther ? [lose(source)].compactMap(\.self) : []
    let before = self[announcement.peer]
    heard[source] = Heard(announcement: announcement, address: address)
    guard let after = self[announcement.peer], after != before else { return lost }
    return lost + [before == nil ? .appeared(after) : .changed(after)]
  }

  /// A service is no longer heard.
  public mutating func lose(_ source: Source) -> Change? {
    guard let old = heard.removeValue(forKey: source) else { return nil }
    let peer = old.announcement.peer
    guard let after = self[peer] else { return .vanished(peer, name: old.announcement.name) }
    return .changed(after)
  }

  /// Call when nothing can be heard any more, as when discovery stops.
  public mutating func loseAll() -> [Change] {
    heard.keys.sorted { $0.service < $1.service }.compactMap { lose($0) }.filter {
      if case .vanished = $0 { true } else { false }
    }
  }
}
