/// A peer's id on the network, as the peer claims it; the network provider verifies the claim.
public struct PeerId: Hashable, Sendable, Comparable, CustomStringConvertible {
  public let description: String

  public init(_ text: String) { description = text }

  /// The peer that this process belongs to: a person's processes have their peer's id, a `/`, and a suffix.
  public var owner: PeerId {
    guard let end = description.utf8.firstIndex(of: UInt8(ascii: "/")) else { return self }
    return PeerId(String(description[..<end]))
  }

  /// Follows the id of a process that speaks over WebSocket, where it cannot prove its key.
  package static let webSocketSuffix = "/ws"

  /// A random id, for a program whose networks do not prove the identity of peers.
  public static func random() -> PeerId { PeerId("peer-" + String(UInt64.random(in: .min ... .max), radix: 36)) }

  /// Compares the bytes, so that both ends of a connection agree which id is smaller.
  public static func < (left: PeerId, right: PeerId) -> Bool {
    left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
  }
}

extension PeerId: ExpressibleByStringLiteral, Codable {
  public init(stringLiteral text: String) { self.init(text) }

  public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

  /// Writes the id's text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// Identifies a store. Several peers, such as one user's processes, may share it.
public struct StorageId: Hashable, Sendable, CustomStringConvertible {
  public let description: String

  public init(_ text: String) { description = text }
}

/// What a peer says about itself when it connects.
public struct PeerMetadata: Hashable, Sendable {
  /// The name of the peer's person. Clean it before you show it.
  public var name: String?
  public var storageId: StorageId?
  /// Whether the peer's documents are gone when it leaves.
  public var isEphemeral: Bool
  /// The addresses where the peer listens, as `host:port`.
  public var addresses: [String]
  /// In a handshake, what the peer says of the call.
  package var call: CallMark?

  public init(name: String? = nil, storageId: StorageId? = nil, isEphemeral: Bool = false, addresses: [String] = []) {
    (self.name, self.storageId, self.isEphemeral, self.addresses) = (name, storageId, isEphemeral, addresses)
  }
}
