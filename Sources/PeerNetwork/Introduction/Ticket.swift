import AutomergeRepo
import Cryptography
import Foundation
import PeerTransport

/// Why a ticket does not admit a peer.
public enum TicketError: Error, Hashable, Sendable {
  /// The text is not a ticket, or its host does not know the secret, or has revoked it.
  case ticketInvalid
  case ticketExpired
  /// As many peers as it was issued for have used it.
  case ticketUsed
  /// The peer has presented too many wrong secrets in the last minute, so its host did not look at this one.
  case tooManyWrong
}

/// An invitation to a document that can be sent by mail: the host, its addresses, and the secret that admits a peer.
///
/// Text: `notes-lsp:` and, in Base32, version (1), fingerprint (32), document (16), secret (16), access (1), expiry in
/// seconds since 1970 or 0 (8), number of addresses (1), each address with its length before it (1), checksum (4).
public struct Ticket: Hashable, Sendable, CustomStringConvertible {
  public static let scheme = "notes-lsp:"
  public static let secretByteCount = 16
  public static let maximumAddresses = 8
  /// How long a ticket is valid by default.
  public static let lifetime: Duration = .seconds(24 * 60 * 60)
  static let maximumLifetime: Duration = .seconds(100 * 365 * 24 * 60 * 60)
  private static let version: UInt8 = 1
  private static let maximumByteCount = 4096

  public var peer: PeerId
  public var document: DocumentId
  public var secret: [UInt8]
  public var access: Access
  /// In whole seconds; nil if it never expires.
  public var expires: Date?
  public var addresses: [PeerAddress]

  private let fingerprint: [UInt8]

  /// Nil if the peer id is not a fingerprint or the secret does not have 16 bytes. Of more than 8 addresses, the first
  /// 8 are kept.
  public init?(
    peer: PeerId, document: DocumentId, secret: [UInt8], access: Access, expires: Date?, addresses: [PeerAddress]
  ) {
    guard let fingerprint = Identity.fingerprint(of: peer), secret.count == Self.secretByteCount else { return nil }
    (self.peer, self.document, self.secret, self.access) = (peer, document, secret, access)
    self.fingerprint = fingerprint
    self.expires = expires.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.up)) }
    self.addresses = Array(addresses.prefix(Self.maximumAddresses))
  }

  public var description: String { Self.scheme + Base32.encode(bytes) }

  /// The same in a few words, to be read aloud. Only the ticket's host knows which document they open.
  public var words: String { SpokenTicket(self)?.words ?? letterGroups }

  /// The text in groups of four letters. It can be parsed like the text.
  var letterGroups: String {
    let letters = Array(Base32.encode(bytes))
    let groups = stride(from: 0, to: letters.count, by: 4).map { String(letters[$0..<min($0 + 4, letters.count)]) }
    return groups.joined(separator: " ")
  }

  private var bytes: [UInt8] {
    var bytes = [Self.version] + fingerprint + document.bytes + secret
    bytes.append(access == .write ? 2 : access == .read ? 1 : 0)
    let seconds = UInt64(max(0, expires?.timeIntervalSince1970 ?? 0))
    bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: seconds >> UInt64($0)) }
    let texts = addresses.map { Array($0.description.utf8) }.filter { $0.count < 256 }
    bytes.append(UInt8(texts.count))
    for text in texts { bytes += [UInt8(text.count)] + text }
    return bytes + Ticket.checksum(bytes)
  }

  /// Reads a pasted ticket: with or without the scheme, in either case, with blanks and hyphens anywhere.
  public init(parsing text: String) throws(TicketError) {
    guard text.utf8.count <= Self.maximumByteCount else { throw .ticketInvalid }
    var letters = text.filter { !$0.isWhitespace && $0 != "-" }.lowercased()
    let scheme = Self.scheme.filter { $0 != "-" }
    if letters.hasPrefix(scheme) { letters.removeFirst(scheme.count) }
    guard let bytes = Base32.decode(letters), bytes.count > 4,
      Ticket.checksum(bytes.dropLast(4)) == Array(bytes.suffix(4))
    else { throw .ticketInvalid }
    var rest = bytes.dropLast(4)
    func take(_ count: Int) throws(TicketError) -> [UInt8] {
      guard rest.count >= count else { throw .ticketInvalid }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    guard try take(1) == [Self.version] else { throw .ticketInvalid }
    fingerprint = try take(Identity.byteCount)
    peer = Identity.peerId(of: fingerprint)
    guard let document = DocumentId(bytes: try take(16)) else { throw .ticketInvalid }
    self.document = document
    secret = try take(Self.secretByteCount)
    switch try take(1) {
    case [1]: access = .read
    case [2]: access = .write
    default: throw .ticketInvalid
    }
    let seconds = try take(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard seconds < 1 << 40 else { throw .ticketInvalid }
    expires = seconds == 0 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    let count = Int(try take(1)[0])
    guard count <= Self.maximumAddresses else { throw .ticketInvalid }
    addresses = []
    for _ in 0..<count {
      let length = Int(try take(1)[0])
      let text = String(decoding: try take(length), as: UTF8.self)
      guard let address = PeerAddress(text) else { throw .ticketInvalid }
      addresses.append(address)
    }
    guard rest.isEmpty else { throw .ticketInvalid }
  }

  public func isExpired(at date: Date) -> Bool { expires.map { $0 <= date } ?? false }

  private static func checksum(_ bytes: some Collection<UInt8>) -> [UInt8] {
    Array(SHA256.hash(data: Array(bytes)).prefix(4))
  }
}
