import AutomergeRepo
import Cryptography
import Foundation

/// The two values by which both ends of an upgrade see that the other means a WebSocket. Source: RFC 6455, section 4.
enum WebSocketKey {
  private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// The client's key: 16 random bytes in Base64.
  static func random(from random: inout RandomSource) -> String { Data(random.bytes(16)).base64EncodedString() }

  static func isValid(_ key: String) -> Bool { Data(base64Encoded: key)?.count == 16 }

  /// The server's answer. The hash protects nothing; it only shows that the server has read the key.
  static func answer(to key: String) -> String {
    Data(SHA1.hash(Array((key + suffix).utf8))).base64EncodedString()
  }
}
