import AutomergeRepo
import Crypto
import Foundation

/// The tickets that we have given out. Secrets are kept as hashes, so a stolen store opens nothing.
public struct TicketBook: Sendable {
  /// Source: PeerProtocol.md, "Meeting".
  static let wrongSecretsPerMinute = 5
  static let maximumTickets = 1024
  private static let maximumSources = 1024

  /// How presenting a secret ended.
  public enum Outcome: Hashable, Sendable {
    case accepted(Access)
    case refused(TicketError)
    /// Too many wrong ones came from there: no answer at all.
    case silence
  }

  private struct Entry: Sendable {
    var document: DocumentId
    var secretHash: [UInt8]
    var access: Access
    var usesLeft: Int
    var expires: Date?
    /// They may come again, for their first answer may have been lost.
    var redeemedBy: Set<PeerId> = []
  }

  private var entries: [Entry] = []
  /// When wrong secrets came, by where from.
  private var wrong: [String: [Duration]] = [:]

  public init() {}

  public mutating func issue(
    document: DocumentId, secret: [UInt8], access: Access, uses: Int, expires: Date?
  ) {
    if entries.count >= TicketBook.maximumTickets { entries.removeFirst() }
    entries.append(
      Entry(
        document: document, secretHash: TicketBook.hash(secret), access: access, usesLeft: max(1, uses),
        expires: expires))
  }

  /// Takes back every ticket of a document.
  public mutating func revoke(_ document: DocumentId) {
    entries.removeAll { $0.document == document }
  }

  /// Lets a peer in, or not.
  ///
  /// - Parameters:
  ///   - source: where the peer calls from, for counting its attempts.
  ///   - date: by which tickets expire.
  ///   - now: by which attempts are counted.
  public mutating func redeem(
    document: DocumentId, secret: [UInt8], by peer: PeerId, from source: String, date: Date, now: Duration
  ) -> Outcome {
    let recent = (wrong[source] ?? []).filter { now - $0 < .seconds(60) }
    wrong[source] = recent.isEmpty ? nil : recent
    guard recent.count < TicketBook.wrongSecretsPerMinute else { return .silence }
    guard let index = index(of: document, secret) else {
      if wrong.count >= TicketBook.maximumSources {
        wrong = wrong.filter { now - ($0.value.last ?? now) < .seconds(60) }
      }
      if wrong.count < TicketBook.maximumSources { wrong[source, default: []].append(now) }
      return .refused(.ticketInvalid)
    }
    if let expires = entries[index].expires, expires <= date { return .refused(.ticketExpired) }
    if !entries[index].redeemedBy.contains(peer) {
      guard entries[index].usesLeft > 0 else { return .refused(.ticketUsed) }
      entries[index].usesLeft -= 1
      entries[index].redeemedBy.insert(peer)
    }
    return .accepted(entries[index].access)
  }

  /// Looks at every entry and every byte, so that the time taken says nothing about the secrets.
  private func index(of document: DocumentId, _ secret: [UInt8]) -> Int? {
    let hash = TicketBook.hash(secret)
    var found: Int?
    for (index, entry) in entries.enumerated() {
      let difference = zip(entry.secretHash, hash).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
      let isOther = difference != 0 || entry.document != document
      found = isOther ? found : index
    }
    return found
  }

  private static func hash(_ secret: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: secret)) }

  // MARK: As a record

  /// What of it is kept in the store.
  public var record: CBOR {
    .array(
      entries.map { entry in
        .record([
          "document": .bytes(Data(entry.document.bytes)), "secretHash": .bytes(Data(entry.secretHash)),
          "access": .text(entry.access.rawValue), "usesLeft": .integer(entry.usesLeft),
          "expires": entry.expires.map { .float($0.timeIntervalSince1970) },
          "redeemedBy": .array(entry.redeemedBy.sorted().map { .text($0.description) }),
        ])
      })
  }

  /// Entries that cannot be read are left out.
  public init(record: CBOR) {
    entries = (record.array ?? []).compactMap { value in
      guard let document = value["document"]?.bytes.flatMap({ DocumentId(bytes: Array($0)) }),
        let secretHash = value["secretHash"]?.bytes, secretHash.count == 32,
        let access = value["access"]?.text.flatMap({ Access(rawValue: $0) }),
        let usesLeft = value["usesLeft"]?.integer
      else { return nil }
      return Entry(
        document: document, secretHash: Array(secretHash), access: access, usesLeft: usesLeft,
        expires: value["expires"]?.double.map { Date(timeIntervalSince1970: $0) },
        redeemedBy: Set((value["redeemedBy"]?.array ?? []).compactMap(\.text).map { PeerId($0) }))
    }
  }
}
