import Automerge
import Cryptography
import Foundation

/// A signature by which a key vouches for the changes of one actor, up to and including one change.
///
/// A change names its ancestors by hash, so an actor's last signature vouches for all its changes up to that one, whatever
/// document holds them: a copy under another id keeps its signatures. The actor must begin with the first 8 bytes of
/// the key's fingerprint, so no key can sign for another person's actors.
/// Source: PeerProtocol.md, "Signatures".
public struct ChangeSignature: Hashable, Sendable {
  /// How many bytes of the fingerprint of the key (its SHA-256) an actor begins with.
  public static let personByteCount = 8
  private static let keyByteCount = Ed25519.keyByteCount
  private static let signatureByteCount = Ed25519.signatureByteCount
  private static let fixedByteCount = keyByteCount + signatureByteCount + 32 + 8
  /// Foreign actors may be longer than ours; longer ones than this cannot be signed for.
  private static let maximumActorBytes = 64
  /// Keeps the statement apart from what TLS signs with the same key, which begins with blanks.
  private static let purpose = Array("notes-lsp change 1\0".utf8)

  public let actor: ActorId
  /// How many changes of the actor the signature vouches for.
  public let number: Int
  /// The last of these changes.
  public let change: ChangeHash
  /// The Ed25519 public key, 32 bytes.
  let key: Data
  let signature: Data

  /// The bytes that are signed.
  static func statement(_ actor: ActorId, _ number: Int, _ change: ChangeHash) -> [UInt8] {
    purpose + bigEndian(number) + change.bytes + actor.bytes
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// Whether the key may sign for the actor and the signature is correct.
  /// - Complexity: O(1), but about a hundred microseconds
  var isValid: Bool {
    Self.fits(actor, key)
      && Ed25519.isSignature(Array(signature), of: Self.statement(actor, number, change), publicKey: Array(key))
  }

  /// Whether the owner of the key may write as the actor.
  static func fits(_ actor: ActorId, _ key: Data) -> Bool {
    (personByteCount...maximumActorBytes).contains(actor.bytes.count)
      && actor.bytes.prefix(personByteCount).elementsEqual(SHA256.hash(data: key).prefix(personByteCount))
  }
}

extension ChangeSignature {
  /// The key, the signature, the hash of the change, its number in eight bytes, and the actor.
  var encoded: Data { key + signature + Data(change.bytes) + Data(Self.bigEndian(number)) + actor.data }

  /// Nil if the bytes do not have the shape of a signature. `isValid` verifies it.
  init?(encoded: Data) {
    let bytes = Array(encoded)
    guard bytes.count >= Self.fixedByteCount + Self.personByteCount,
      bytes.count <= Self.fixedByteCount + Self.maximumActorBytes
    else { return nil }
    var place = 0
    func take(_ count: Int) -> [UInt8] {
      defer { place += count }
      return Array(bytes[place..<place + count])
    }
    key = Data(take(Self.keyByteCount))
    signature = Data(take(Self.signatureByteCount))
    let hash = ChangeHash(bytes: take(32))
    let number = take(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let actor = ActorId(data: Data(bytes[place...]))
    guard let hash, let actor, number > 0, let number = Int(exactly: number) else { return nil }
    (change, self.number, self.actor) = (hash, number, actor)
  }
}

/// Signs this person's changes. Holds the private key and never reveals it.
public struct ChangeSigner: Sendable {
  private let privateKey: Ed25519.PrivateKey

  /// Takes the seed of an Ed25519 key; nil unless it has 32 bytes.
  public init?(seed: [UInt8]) {
    guard let key = Ed25519.PrivateKey(seed: seed) else { return nil }
    privateKey = key
  }

  private var key: Data { Data(privateKey.publicKey) }

  /// A new random actor that the key may sign for.
  public func newActor() -> ActorId {
    let person = Data(SHA256.hash(data: key).prefix(ChangeSignature.personByteCount))
    return ActorId(data: person + ActorId().data.suffix(8)) ?? ActorId()
  }

  /// Nil if the key may not sign for the actor.
  func sign(_ actor: ActorId, _ number: Int, _ change: ChangeHash) -> ChangeSignature? {
    guard ChangeSignature.fits(actor, key) else { return nil }
    let statement = ChangeSignature.statement(actor, number, change)
    let signature = Data(privateKey.signature(for: statement))
    return ChangeSignature(actor: actor, number: number, change: change, key: key, signature: signature)
  }
}
