import Foundation
import Synchronization

/// A CBOR record that other processes write, too: its bytes as this process last read or wrote them.
///
/// A process stores the whole record as it has it in memory, but keeps what another process has stored meanwhile: it
/// replaces only the fields that changed here.
public final class SharedRecord: Sendable {
  private let last: Mutex<Data?>

  /// - Parameter data: the record as stored; nil if there is none.
  public init(_ data: Data?) { last = Mutex(data) }

  /// Call with what was read from the store once it is in memory, and with what is in memory once it is stored.
  public func isStored(_ data: Data) { last.withLock { $0 = data } }

  /// Merges `data`, the record in memory, with `stored`, the one in the store: the fields of `stored`, and those of
  /// `data` that changed here. Returns `data` if `stored` is nil or cannot be read.
  ///
  /// - Complexity: O(n) in the bytes if no other process has stored the record since; otherwise also O(m²) in its m fields.
  public func merged(_ data: Data, with stored: Data?) -> Data {
    let last = last.withLock { $0 }
    guard let stored, let last, stored != last, stored != data else { return data }
    guard let mine = Self.fields(data), let old = Self.fields(last), let theirs = Self.fields(stored) else {
      return data
    }
    var merged = theirs.filter { entry in
      Self.value(entry.key, in: mine) == Self.value(entry.key, in: old)
    }
    merged += mine.filter { entry in Self.value(entry.key, in: old) != entry.value }
    return Data(CBOR.map(merged).encoded())
  }

  private static func fields(_ data: Data) -> [CBOR.Entry]? {
    guard case .map(let entries)? = try? CBOR(data, limits: .stored) else { return nil }
    return entries
  }

  private static func value(_ key: CBOR, in entries: [CBOR.Entry]) -> CBOR? { entries.last { $0.key == key }?.value }
}

extension SharedRecord: Hashable {
  public static func == (one: SharedRecord, other: SharedRecord) -> Bool { one === other }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
