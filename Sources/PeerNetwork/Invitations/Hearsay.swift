import AutomergeRepo

/// What is said of peers that our person has not met: by themselves, and by the hosts of documents. It is kept in memory
/// only, and never stands above what is known.
struct Hearsay {
  /// At most this many names are remembered that strangers use for themselves.
  private static let mostNames = 1024

  private var names: [PeerId: String] = [:]
  private var guests: [DocumentId: [PeerId: GuestList.Guest]] = [:]

  /// A peer says what it is called.
  mutating func note(_ name: String, of peer: PeerId) {
    guard names[peer] != nil || names.count < Hearsay.mostNames else { return }
    names[peer] = name
  }

  /// Of a stranger that has gone nothing is kept.
  mutating func forget(_ peer: PeerId) { names[peer] = nil }

  /// What a host says takes the place of what it said before.
  mutating func take(_ list: GuestList) {
    let entries = list.guests.map { ($0.peer, $0) }
    guests[list.document] = entries.isEmpty ? nil : Dictionary(entries) { first, _ in first }
  }

  /// What it calls itself.
  func ownName(of peer: PeerId) -> String? { names[peer] }

  /// What a host calls it.
  func name(of peer: PeerId) -> String? { mentions(of: peer).compactMap(\.name).first }

  func addresses(of peer: PeerId) -> [PeerAddress] { mentions(of: peer).flatMap(\.addresses) }

  private func mentions(of peer: PeerId) -> [GuestList.Guest] {
    guests.sorted { $0.key.description < $1.key.description }.compactMap { $0.value[peer] }
  }
}
