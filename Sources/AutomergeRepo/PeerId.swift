/// Names a peer on the network, as it calls itself; what the name is worth is for the network provider to say.
public struct PeerId: Hashable, Sendable, Comparable, CustomStringConvertible {
  public let description: String

  public init(_ text: String) { description = text }

  /// The peer whose process this is: a person's processes have their peer's id, a `/`, and something of their own.
  public var owner: PeerId {
    guard let end = description.utf8.firstIndex(of: UInt8(ascii: "/")) else { return self }
    return PeerId(String(description[..<end]))
  }

  /// By bytes, so that both ends of a connection agree on the smaller one.
  public static func < (left: PeerId, right: PeerId) -> Bool {
    left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
  }
}

/// Names a store. Several peers, the processes of one user, may share it.
public struct StorageId: Hashable, Sendable, CustomStringConvertible {
  public let description: String

  public init(_ text: String) { description = text }
}

/// What a peer says of itself when it connects.
public struct PeerMetadata: Hashable, Sendable {
  /// What its person is called, fit to show after cleaning.
  public var name: String?
  public var storageId: StorageId?
  /// Whether what it has is gone when it leaves.
  public var isEphemeral: Bool
  /// Where it listens, as `host:port`.
  public var addresses: [String]

  public init(name: String? = nil, storageId: StorageId? = nil, isEphemeral: Bool = false, addresses: [String] = []) {
    (self.name, self.storageId, self.isEphemeral, self.addresses) = (name, storageId, isEphemeral, addresses)
  }
}
