import AutomergeRepo
import Cryptography
import Foundation

/// The tickets that we have issued. Secrets are stored as hashes, so a stolen store admits no one.
public struct TicketBook: Sendable {
  /// Source: PeerProtocol.md, "Grants and tickets".
  static let wrongSecretsPerMinute = 5
  static let maximumTickets = 1024
  private static let maximumCounted = 1024
  /// How long a peer may present a ticket again that it has redeemed, because the answer may have been lost.
  static let grace: TimeInterval = 60

  /// The outcome of presenting a secret.
  public enum Outcome: Hashable, Sendable {
    case accepted(Access)
    /// This peer has redeemed it before; `isRecent` if that was less than a minute ago.
    case repeated(Access, isRecent: Bool)
    case refused(TicketError)
  }

  private struct Entry: Sendable {
    var document: DocumentId
    var secretHash: [UInt8]
    /// The hash of the part of the secret that a spoken ticket contains; empty in entries of older programs, which
    /// issued none.
    var spokenHash: [UInt8] = []
    var access: Access
    var usesLeft: Int
    /// A revoked ticket is kept, so that presenting it does not count as guessing a secret.
    var isRevoked = false
    var expires: Date?
    /// The expiry by the monotonic clock; nil in entries of an earlier run.
    var deadline: Duration?
    /// The peers that have redeemed it, and when, in seconds since 1970.
    var redeemedBy: [PeerId: TimeInterval] = [:]
    /// The access that this person has set for a peer since the ticket was made; the ticket gives it no more.
    var limits: [PeerId: Access] = [:]

    func access(for peer: PeerId) -> Access { min(access, limits[peer] ?? access) }

    /// No use is left either: an earlier program does not know that a ticket is revoked.
    mutating func revoke() { (isRevoked, usesLeft, redeemedBy) = (true, 0, [:]) }
  }

  private var entries: [Entry] = []
  /// When each peer sent wrong secrets. Counted by peer and not by address, because many people may share one address.
  private var wrong: [PeerId: [Duration]] = [:]
  private var hasNewExpiry = false

  public init() {}

  /// - Parameter deadline: the expiry even if the calendar is set back.
  public mutating func issue(
    document: DocumentId, secret: [UInt8], access: Access, uses: Int, expires: Date?, deadline: Duration? = nil
  ) {
    if entries.count >= Self.maximumTickets {
      // Replaces one that is used up or expired, if there is one.
      entries.remove(at: entries.firstIndex { $0.usesLeft == 0 || $0.expires == .distantPast } ?? 0)
    }
    entries.append(
      Entry(
        document: document, secretHash: TicketBook.hash(secret),
        spokenHash: TicketBook.hash(Array(secret.prefix(SpokenTicket.secretByteCount))), access: access,
        usesLeft: max(1, uses), expires: expires, deadline: deadline))
  }

  /// Whether a ticket of the document still admits a peer.
  public func admits(to document: DocumentId, at date: Date) -> Bool {
    entries.contains { $0.document == document && $0.usesLeft > 0 && $0.expires.map { date < $0 } ?? true }
  }

  /// Revokes every ticket of a document.
  public mutating func revoke(_ document: DocumentId) {
    for index in entries.indices where entries[index].document == document { entries[index].revoke() }
  }

  /// Revokes every ticket that a peer has presented: it still has the text, and may return with another key.
  ///
  /// - Returns: whether there were any.
  public mutating func void(redeemedBy peer: PeerId) -> Bool {
    let redeemed = entries.indices.filter { entries[$0].redeemedBy[peer] != nil }
    for index in redeemed { entries[index].revoke() }
    return !redeemed.isEmpty
  }

  /// Why a ticket of ours admits no further peer; nil if it does. For this person only: it counts no attempt.
  func problem(document: DocumentId, secret: [UInt8], at date: Date) -> TicketError? {
    let hash = TicketBook.hash(secret)
    guard
      let entry = entries.first(where: { TicketBook.areEqual($0.secretHash, hash) && $0.document == document }),
      !entry.isRevoked
    else { return .ticketInvalid }
    if let expires = entry.expires, expires <= date { return .ticketExpired }
    return entry.usesLeft > 0 ? nil : .ticketUsed
  }

  /// Call when this person has decided which access a peer has to a document: tickets that were made before give the
  /// peer no more than that.
  public mutating func limit(_ document: DocumentId, for peer: PeerId, to access: Access) {
    for index in entries.indices where entries[index].document == document { entries[index].limits[peer] = access }
  }

  /// Checks a secret and counts the attempt.
  ///
  /// - Parameters:
  ///   - date: the time by which tickets expire.
  ///   - now: the time by which attempts are counted.
  public mutating func redeem(
    document: DocumentId, secret: [UInt8], by peer: PeerId, date: Date, now: Duration
  ) -> Outcome {
    let hash = TicketBook.hash(secret)
    return redeem(by: peer, date: date, now: now) { entry in
      TicketBook.areEqual(entry.secretHash, hash) && entry.document == document
    }.outcome
  }

  /// The same with a spoken ticket's part of the secret, which does not name the document.
  mutating func redeem(
    spoken secret: [UInt8], by peer: PeerId, date: Date, now: Duration
  ) -> (outcome: Outcome, document: DocumentId?) {
    let hash = TicketBook.hash(secret)
    return redeem(by: peer, date: date, now: now) { TicketBook.areEqual($0.spokenHash, hash) }
  }

  /// The document of a spoken ticket of ours; nil if there is none.
  func document(ofSpoken secret: [UInt8]) -> DocumentId? {
    let hash = TicketBook.hash(secret)
    return entries.first { TicketBook.areEqual($0.spokenHash, hash) }?.document
  }

  private mutating func redeem(
    by peer: PeerId, date: Date, now: Duration, where isMeant: (Entry) -> Bool
  ) -> (outcome: Outcome, document: DocumentId?) {
    let recent = (wrong[peer] ?? []).filter { now - $0 < .seconds(60) }
    wrong[peer] = recent.isEmpty ? nil : recent
    guard recent.count < Self.wrongSecretsPerMinute else { return (.refused(.tooManyWrong), nil) }
    guard let index = lastIndex(where: isMeant) else {
      if wrong.count >= Self.maximumCounted {
        wrong = wrong.filter { now - ($0.value.last ?? now) < .seconds(60) }
      }
      if wrong.count < Self.maximumCounted { wrong[peer, default: []].append(now) }
      return (.refused(.ticketInvalid), nil)
    }
    let document = entries[index].document
    guard !entries[index].isRevoked else { return (.refused(.ticketInvalid), document) }
    if let expires = entries[index].expires, expires <= date || entries[index].deadline.map({ $0 <= now }) ?? false {
      // Permanent, even if the calendar is set back.
      if entries[index].expires != .distantPast { (entries[index].expires, hasNewExpiry) = (.distantPast, true) }
      return (.refused(.ticketExpired), document)
    }
    if let time = entries[index].redeemedBy[peer] {
      let isRecent = (0..<Self.grace).contains(date.timeIntervalSince1970 - time)
      return (.repeated(entries[index].access(for: peer), isRecent: isRecent), document)
    }
    guard entries[index].usesLeft > 0 else { return (.refused(.ticketUsed), document) }
    entries[index].usesLeft -= 1
    entries[index].redeemedBy[peer] = date.timeIntervalSince1970
    return (.accepted(entries[index].access(for: peer)), document)
  }

  /// Whether a ticket was found to be expired since the last call, which the store has yet to learn. A peer may present an
  /// expired ticket any number of times.
  mutating func takeNewExpiry() -> Bool {
    defer { hasNewExpiry = false }
    return hasNewExpiry
  }

  /// Compares with every entry, so that the time does not reveal where a secret is.
  private func lastIndex(where isMeant: (Entry) -> Bool) -> Int? {
    var found: Int?
    for (index, entry) in entries.enumerated() {
      let isThis = isMeant(entry)
      found = isThis ? index : found
    }
    return found
  }

  /// Compares every byte, so that the time does not reveal which differ.
  private static func areEqual(_ hash: [UInt8], _ other: [UInt8]) -> Bool {
    guard hash.count == other.count else { return false }
    return zip(hash, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func hash(_ secret: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: secret)) }

  // MARK: As a record

  /// The stored form.
  public var record: CBOR {
    .array(
      entries.map { entry in
        .record([
          "document": .bytes(Data(entry.document.bytes)), "secretHash": .bytes(Data(entry.secretHash)),
          "spokenHash": entry.spokenHash.isEmpty ? nil : .bytes(Data(entry.spokenHash)),
          "access": .text(entry.access.rawValue), "usesLeft": .integer(entry.usesLeft),
          "revoked": entry.isRevoked ? true : nil,
          "expires": entry.expires.map { .float($0.timeIntervalSince1970) },
          "redeemedBy": .array(
            entry.redeemedBy.sorted { $0.key < $1.key }.map { peer, time in
              .record(["peer": .text(peer.description), "time": .float(time)])
            }),
          "limits": .map(
            entry.limits.sorted { $0.key < $1.key }.map { peer, access in
              CBOR.Entry(.text(peer.description), .text(access.rawValue))
            }),
        ])
      })
  }

  /// Drops unreadable entries.
  ///
  /// - Parameter decided: the access that this person has decided on, for entries of earlier programs, which did not
  ///   store it
  public init(record: CBOR, decided: [DocumentId: [PeerId: Access]] = [:]) {
    entries = (record.array ?? []).compactMap { value in
      guard let document = value["document"]?.bytes.flatMap({ DocumentId(bytes: Array($0)) }),
        let secretHash = value["secretHash"]?.bytes, secretHash.count == 32,
        let access = value["access"]?.text.flatMap({ Access(rawValue: $0) }),
        let usesLeft = value["usesLeft"]?.integer
      else { return nil }
      return Entry(
        document: document, secretHash: Array(secretHash),
        spokenHash: value["spokenHash"]?.bytes.map { Array($0) } ?? [], access: access, usesLeft: usesLeft,
        isRevoked: value["revoked"]?.bool ?? false,
        expires: value["expires"]?.double.map { Date(timeIntervalSince1970: $0) },
        redeemedBy: TicketBook.redeemers(value["redeemedBy"]?.array ?? []),
        limits: value["limits"]?.entries.map(TicketBook.limits) ?? decided[document] ?? [:])
    }
  }

  /// Earlier programs stored only the peers.
  private static func redeemers(_ list: [CBOR]) -> [PeerId: TimeInterval] {
    let pairs = list.compactMap { value in
      (value.text ?? value["peer"]?.text).map { (PeerId($0), value["time"]?.double ?? 0) }
    }
    return Dictionary(pairs) { max($0, $1) }
  }

  private static func limits(_ list: [CBOR.Entry]) -> [PeerId: Access] {
    let pairs = list.compactMap { entry in
      entry.key.text.flatMap { peer in entry.value.text.flatMap { Access(rawValue: $0) }.map { (PeerId(peer), $0) } }
    }
    return Dictionary(pairs) { min($0, $1) }
  }
}
