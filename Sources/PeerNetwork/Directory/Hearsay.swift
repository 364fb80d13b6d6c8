import AutomergeRepo
import PeerTransport

/// Claims about peers that this person has not met, made by themselves and by the hosts of documents. Kept only in
/// memory; what is stored always takes precedence.
struct Hearsay {
  /// The most names of strangers that are remembered.
  private static let maximumNames = 1024

  private var names: [PeerId: String] = [:]
  private var guests: [DocumentId: [PeerId: GuestList.Guest]] = [:]

  /// Records the name that a peer claims.
  mutating func note(_ name: String, of peer: PeerId) {
    guard names[peer] != nil || names.count < Self.maximumNames else { return }
    names[peer] = name
  }

  /// Drops the claims of a stranger that has left.
  mutating func forget(_ peer: PeerId) { names[peer] = nil }

  /// Replaces what a host claimed earlier.
  mutating func take(_ list: GuestList) {
    let entries = list.guests.map { ($0.peer, $0) }
    guests[list.document] = entries.isEmpty ? nil : Dictionary(entries) { first, _ in first }
  }

  /// The name that the peer claims for itself.
  func ownName(of peer: PeerId) -> String? { names[peer] }

  /// The name that a host claims for the peer.
  func name(of peer: PeerId) -> String? { mentions(of: peer).compactMap(\.name).first }

  func addresses(of peer: PeerId) -> [PeerAddress] { mentions(of: peer).flatMap(\.addresses) }

  private func mentions(of peer: PeerId) -> [GuestList.Guest] {
    guests.sorted { $0.key.description < $1.key.description }.compactMap { $0.value[peer] }
  }
}
