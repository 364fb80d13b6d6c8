import AutomergeRepo
import Cryptography
import Foundation
import PeerTransport

/// A ticket short enough to be read aloud: 20 words from a list, or 25 with an address to call.
///
/// The bytes: version and flags (1), the first 12 bytes of the fingerprint, the first 10 of the secret, an IPv4 address
/// and a port (6) or nothing. Ten bits make a word, and one more word is a checksum. Only the host knows which document
/// the ticket opens, for how long and for how many peers.
struct SpokenTicket: Hashable, Sendable {
  static let fingerprintByteCount = 12
  static let secretByteCount = 10
  static let bitsPerWord = 10
  /// Without an address, and with one; including the checksum word.
  static let wordCounts = [20, 25]
  private static let version: UInt8 = 1
  private static let addressByteCount = 6
  private static let maximumByteCount = 1024

  let fingerprintStart: [UInt8]
  let secretStart: [UInt8]
  /// Nil if the two have to find each other on the local network.
  let address: PeerAddress?

  init?(_ ticket: Ticket) {
    guard let fingerprint = Identity.fingerprint(of: ticket.peer) else { return nil }
    fingerprintStart = Array(fingerprint.prefix(Self.fingerprintByteCount))
    secretStart = Array(ticket.secret.prefix(Self.secretByteCount))
    address = ticket.addresses.first { SpokenTicket.bytes(of: $0) != nil }
  }

  /// Whether this may be the key that the ticket names.
  func isFrom(_ peer: PeerId) -> Bool {
    Identity.fingerprint(of: peer)?.starts(with: fingerprintStart) ?? false
  }

  // MARK: As words

  var words: String {
    let place = address.flatMap(SpokenTicket.bytes) ?? []
    let bytes = [Self.version << 4 | (place.isEmpty ? 0 : 1)] + fingerprintStart + secretStart + place
    let numbers = SpokenTicket.numbers(bytes) + [SpokenTicket.check(bytes)]
    return numbers.map { TicketWordList.words[$0] }.joined(separator: " ")
  }

  /// Nil unless the words are in the list, have the right number, and match the checksum. Case does not matter, nor
  /// what separates them, nor what follows the fourth letter of a word.
  init?(parsing text: String) {
    guard text.utf8.count <= Self.maximumByteCount else { return nil }
    let words = text.lowercased().split { !($0.isASCII && $0.isLetter) }
    // Other tickets are not compared with the list, which takes a millisecond to build.
    guard Self.wordCounts.contains(words.count), words.allSatisfy({ $0.count >= TicketWordList.minimumWordLength })
    else { return nil }
    let numbers = words.compactMap { TicketWordList.places[String($0.prefix(4))] }
    guard numbers.count == words.count, let check = numbers.last,
      let bytes = SpokenTicket.bytes(Array(numbers.dropLast())), SpokenTicket.check(bytes) == check
    else { return nil }
    let hasAddress = words.count == Self.wordCounts[1]
    guard bytes[0] == Self.version << 4 | (hasAddress ? 1 : 0) else { return nil }
    let secretStart = 1 + Self.fingerprintByteCount
    let end = secretStart + Self.secretByteCount
    guard bytes.count == end + (hasAddress ? Self.addressByteCount : 0) else { return nil }
    fingerprintStart = Array(bytes[1..<secretStart])
    self.secretStart = Array(bytes[secretStart..<end])
    if hasAddress {
      let port = UInt16(bytes[end + 4]) << 8 | UInt16(bytes[end + 5])
      address = PeerAddress(host: bytes[end..<end + 4].map { String($0) }.joined(separator: "."), port: port)
    } else {
      address = nil
    }
  }

  /// Ten bits each, the first bits first; the unused bits of the last number are zero.
  private static func numbers(_ bytes: [UInt8]) -> [Int] {
    var (numbers, bits, bitCount): ([Int], Int, Int) = ([], 0, 0)
    for byte in bytes {
      (bits, bitCount) = (bits << 8 | Int(byte), bitCount + 8)
      while bitCount >= bitsPerWord {
        bitCount -= bitsPerWord
        numbers.append(bits >> bitCount)
        bits &= (1 << bitCount) - 1
      }
    }
    if bitCount > 0 { numbers.append(bits << (bitsPerWord - bitCount)) }
    return numbers
  }

  /// Nil if the unused bits are not zero.
  private static func bytes(_ numbers: [Int]) -> [UInt8]? {
    var (bytes, bits, bitCount): ([UInt8], Int, Int) = ([], 0, 0)
    for number in numbers {
      (bits, bitCount) = (bits << bitsPerWord | number, bitCount + bitsPerWord)
      while bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        bits &= (1 << bitCount) - 1
      }
    }
    // Eight unused bits of the last word make a whole byte.
    let expected = [
      1 + fingerprintByteCount + secretByteCount, 1 + fingerprintByteCount + secretByteCount + addressByteCount,
    ]
    guard let count = expected.last(where: { $0 <= bytes.count }), bits == 0, bytes[count...].allSatisfy({ $0 == 0 })
    else {
      return nil
    }
    return Array(bytes.prefix(count))
  }

  private static func check(_ bytes: [UInt8]) -> Int {
    let hash = Array(SHA256.hash(data: Array("notes-lsp words 1".utf8) + bytes))
    return Int(hash[0]) << 2 | Int(hash[1]) >> 6
  }

  /// The bytes of an IPv4 address.
  private static func bytes(of address: PeerAddress) -> [UInt8]? {
    let parts = address.host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    guard parts.count == 4, address.port != 0, address.isCallable else { return nil }
    let bytes = parts.compactMap { $0 }
    return bytes.count == 4 ? bytes + [UInt8(address.port >> 8), UInt8(address.port & 255)] : nil
  }
}
