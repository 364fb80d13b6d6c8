import AutomergeRepo
import Foundation

/// Who we are on the network, the same at every start: 32 random bytes, kept in the store.
///
/// Until links are encrypted it is a name and proves nothing.
public struct Identity: Hashable, Sendable {
  public static let byteCount = 32

  /// What others know us by.
  public let fingerprint: [UInt8]

  /// The fingerprint in Base32.
  public var peerId: PeerId { Identity.peerId(of: fingerprint) }

  static func peerId(of fingerprint: [UInt8]) -> PeerId { PeerId(Base32.encode(fingerprint)) }

  static func fingerprint(of peer: PeerId) -> [UInt8]? {
    Base32.decode(peer.description).flatMap { $0.count == byteCount ? $0 : nil }
  }

  /// The store's identity, made when there is none. One that is damaged is refused, never silently replaced.
  public static func load(
    from storage: any StorageProvider, random: RandomSource = RandomSource()
  ) async throws(StorageError) -> Identity {
    let key = ["identity"]
    if let record = try await storage.record(at: key) {
      guard let bytes = record["fingerprint"]?.bytes, bytes.count == byteCount else { throw .damaged(key) }
      return Identity(fingerprint: Array(bytes))
    }
    var random = random
    let identity = Identity(fingerprint: random.bytes(byteCount))
    try await storage.saveRecord(.record(["fingerprint": .bytes(Data(identity.fingerprint))]), at: key)
    return identity
  }

  init(fingerprint: [UInt8]) { self.fingerprint = fingerprint }
}
