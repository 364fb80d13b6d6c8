import Automerge
import Foundation

/// Sync messages that no program of ours would send: what is in them is right, and far more than it looks.
public enum HostileChanges {
  /// Changes by a new author, each of which types so many letters at the front of the text at `content` and is deflated.
  ///
  /// - Parameter document: what the receiver has; it is not changed.
  public static func deflated(
    _ count: Int, byteCount: Int, on document: Document
  ) throws -> (message: Data, heads: Set<ChangeHash>) {
    let fork = document.fork()
    let start = fork.heads()
    guard case .Object(let text, .Text)? = try fork.get(obj: .ROOT, key: "content") else { return (Data(), start) }
    let letters = String(decoding: [UInt8](repeating: UInt8(ascii: "a"), count: byteCount), as: UTF8.self)
    for _ in 0..<count {
      try fork.spliceText(obj: text, start: 0, delete: 0, value: letters)
      fork.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    }
    let changes = deflated(Array(try fork.encodeChangesSince(heads: start)))
    return (message(heads: fork.heads(), changes: changes), fork.heads())
  }

  /// A message of the sync protocol that has these heads and chunks, and nothing else.
  ///
  /// - Parameter wantsAll: whether it says that its sender has nothing, and so asks for everything.
  public static func message(heads: Set<ChangeHash>, changes: [[UInt8]], wantsAll: Bool = false) -> Data {
    var bytes: [UInt8] = [0x42]
    bytes += uleb(heads.count) + heads.sorted().flatMap(\.bytes)
    bytes += (wantsAll ? [0, 1, 0, 0] : [0, 0]) + uleb(changes.count)
    for change in changes { bytes += uleb(change.count) + change }
    return Data(bytes)
  }

  /// The same changes, each as a deflated chunk.
  private static func deflated(_ chunks: [UInt8]) -> [[UInt8]] {
    var (changes, start): ([[UInt8]], Int) = ([], 0)
    while start + 9 < chunks.count {
      var (length, shift, next) = (0, 0, start + 9)
      while true {
        length |= Int(chunks[next] & 0x7f) << shift
        next += 1
        shift += 7
        if chunks[next - 1] < 0x80 { break }
      }
      let body = Deflate.deflate(chunks[next..<next + length])
      changes.append(Array(chunks[start..<start + 8]) + [2] + uleb(body.count) + body)
      start = next + length
    }
    return changes
  }

  private static func uleb(_ value: Int) -> [UInt8] {
    var (value, bytes): (Int, [UInt8]) = (value, [])
    repeat {
      bytes.append(UInt8(value & 0x7f) | (value > 0x7f ? 0x80 : 0))
      value >>= 7
    } while value > 0
    return bytes
  }
}
