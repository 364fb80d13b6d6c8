import Automerge
import Crypto
import Foundation

/// A key's word for the changes of one actor, up to and with one of them.
///
/// A change names all that came before it by hash, so the last signature of an actor speaks for all its changes until then, in
/// whatever document they are: a copy under another id keeps its signatures. The
/// key must have a fingerprint that begins as the actor does, so nobody signs for the actors of another.
/// Source: PeerProtocol.md, "Signatures".
public struct ChangeSignature: Hashable, Sendable {
  /// With so many bytes of the key's fingerprint, the SHA-256 of the key, the actor begins.
  public static let personByteCount = 8
  private static let keyByteCount = 32
  private static let signatureByteCount = 64
  private static let fixedByteCount = keyByteCount + signatureByteCount + 32 + 8
  /// Actors are random; longer ones are nobody's.
  private static let mostActorBytes = 64
  /// What TLS signs with the same key begins with blanks.
  private static let purpose = Array("notes-lsp change 1\0".utf8)

  public let actor: ActorId
  /// How many changes of the actor it speaks for.
  public let number: Int
  /// The last of them.
  public let change: ChangeHash
  /// The Ed25519 key, in its 32 bytes.
  let key: Data
  let signature: Data

  /// What is signed.
  static func statement(_ actor: ActorId, _ number: Int, _ change: ChangeHash) -> [UInt8] {
    purpose + bigEndian(number) + change.bytes + actor.bytes
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// Whether the key may speak for the actor, and has signed this.
  /// - Complexity: O(1), some hundred microseconds
  var isValid: Bool {
    guard Self.fits(actor, key), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else {
      return false
    }
    return key.isValidSignature(signature, for: Self.statement(actor, number, change))
  }

  /// Whether an actor can be one that the owner of a key writes as.
  static func fits(_ actor: ActorId, _ key: Data) -> Bool {
    (personByteCount...mostActorBytes).contains(actor.bytes.count)
      && actor.bytes.prefix(personByteCount).elementsEqual(SHA256.hash(data: key).prefix(personByteCount))
  }
}

extension ChangeSignature {
  /// The key, the signature, the hash of the change, its number in eight bytes, and the actor.
  var encoded: Data { key + signature + Data(change.bytes) + Data(Self.bigEndian(number)) + actor.data }

  /// Nil if the bytes cannot be one. Whether it holds is for `isValid` to say.
  init?(encoded: Data) {
    let bytes = Array(encoded)
    guard bytes.count >= Self.fixedByteCount + Self.personByteCount,
      bytes.count <= Self.fixedByteCount + Self.mostActorBytes
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

/// Signs what this person writes. It holds the private key, and shows it to nobody.
public struct ChangeSigner: Sendable {
  private let privateKey: Curve25519.Signing.PrivateKey
  private let key: Data

  /// Takes the seed of an Ed25519 key; nil unless it has 32 bytes.
  public init?(seed: [UInt8]) {
    guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else { return nil }
    (privateKey, self.key) = (key, key.publicKey.rawRepresentation)
  }

  /// A new actor that the key may speak for.
  public func newActor() -> ActorId {
    let person = Data(SHA256.hash(data: key).prefix(ChangeSignature.personByteCount))
    return ActorId(data: person + ActorId().data.suffix(8)) ?? ActorId()
  }

  /// Nil if the actor is not this person's.
  func sign(_ actor: ActorId, _ number: Int, _ change: ChangeHash) -> ChangeSignature? {
    guard ChangeSignature.fits(actor, key) else { return nil }
    let statement = ChangeSignature.statement(actor, number, change)
    guard let signature = try? privateKey.signature(for: statement) else { return nil }
    return ChangeSignature(actor: actor, number: number, change: change, key: key, signature: signature)
  }
}
