import AutomergeRepo
import Cryptography
import Foundation

/// This person's identity on the network, the same at every start: an Ed25519 key, and the hash by which peers know it.
public struct Identity: Sendable {
  /// The length of the fingerprint and of the key.
  public static let byteCount = 32

  /// How many bytes of its fingerprint every actor of a peer begins with.
  public static let personByteCount = 8

  /// The SHA-256 of the public key, by which peers identify us.
  public let fingerprint: [UInt8]
  /// The seed of the private key. Never logged, never sent.
  package let privateKey: [UInt8]

  /// The fingerprint in Base32.
  public var peerId: PeerId { Identity.peerId(of: fingerprint) }

  /// Signs the changes that this person makes.
  public var signer: ChangeSigner? { ChangeSigner(seed: privateKey) }

  /// Makes a new identity.
  public init(random: RandomSource = RandomSource()) {
    var random = random
    self.init(randomBytes: random.bytes(Self.byteCount))
  }

  private init(randomBytes: [UInt8]) {
    privateKey = randomBytes
    // Any 32 bytes are the seed of a key.
    let key = Ed25519.PrivateKey(seed: randomBytes)
    fingerprint = key.map { Identity.fingerprint(ofPublicKey: $0.publicKey) } ?? []
    precondition(fingerprint.count == Self.byteCount, "an Ed25519 seed has 32 bytes")
  }

  /// Takes the seed of a private key; nil unless it has 32 bytes.
  package init?(privateKey: [UInt8]) {
    guard privateKey.count == Self.byteCount else { return nil }
    self.init(randomBytes: privateKey)
  }

  package static func fingerprint(ofPublicKey bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

  public static func peerId(of fingerprint: [UInt8]) -> PeerId { PeerId(Base32.encode(fingerprint)) }

  /// The first bytes of a peer's actors.
  package static func author(of peer: PeerId) -> [UInt8]? {
    fingerprint(of: peer).map { Array($0.prefix(personByteCount)) }
  }

  package static func fingerprint(of peer: PeerId) -> [UInt8]? {
    Base32.decode(peer.description).flatMap { $0.count == byteCount ? $0 : nil }
  }
}

extension Identity {
  /// PKCS #8 around an Ed25519 seed, up to the seed. Source: RFC 8410, section 7.
  private static let derPrefix: [UInt8] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]
  private static let pemBegin = "-----BEGIN PRIVATE KEY-----"
  private static let pemEnd = "-----END PRIVATE KEY-----"

  /// The private key in the form that other programs such as OpenSSL read.
  package var pem: String {
    let body = Data(Self.derPrefix + privateKey).base64EncodedString()
    return "\(Self.pemBegin)\n\(body)\n\(Self.pemEnd)\n"
  }

  /// Nil if the text is not an Ed25519 key in PEM.
  package init?(pem: String) {
    let lines = pem.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
    guard lines.count >= 3, lines.first == Self.pemBegin, lines.last == Self.pemEnd,
      let der = Data(base64Encoded: lines.dropFirst().dropLast().joined()),
      der.count == Self.derPrefix.count + Self.byteCount, der.starts(with: Self.derPrefix)
    else { return nil }
    self.init(privateKey: Array(der.suffix(Self.byteCount)))
  }
}
