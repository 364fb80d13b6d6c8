import Foundation
import Synchronization

/// A CBOR record that other processes write, too: its bytes as this process last read or wrote them.
///
/// A process stores the whole record as it has it in memory, but keeps what another process has stored meanwhile: it
/// replaces only the fields that changed here.
public final class SharedRecord: Sendable {
  private struct Known {
    var data: Data?
    /// How many times the record was read.
    var readCount = 0
  }

  private final class Memory: Sendable {
    let latest: Mutex<Known>
    init(_ known: Known) { latest = Mutex(known) }
  }

  /// The same for the record and all that `asKnownNow` has returned of it.
  private let memory: Memory
  /// What was known when the bytes to store were made; nil for the record itself.
  private let moment: Known?

  /// - Parameter data: the record as stored; nil if there is none.
  public init(_ data: Data?) { (memory, moment) = (Memory(Known(data: data)), nil) }

  private init(_ memory: Memory, at moment: Known) { (self.memory, self.moment) = (memory, moment) }

  /// For a commit of bytes that are made now. It may be carried out when the record has been read again: the bytes do not have
  /// what was read, which they would otherwise seem to have changed.
  public var asKnownNow: SharedRecord { SharedRecord(memory, at: memory.latest.withLock { $0 }) }

  /// Call with what was read from the store once it is in memory, and with what is in memory once it is stored.
  public func isStored(_ data: Data) {
    memory.latest.withLock { latest in
      guard let moment else { return latest = Known(data: data, readCount: latest.readCount + 1) }
      if latest.readCount == moment.readCount { latest.data = data }
    }
  }

  /// What the bytes to store were made from: what this process stored since then counts, what it read does not.
  private var base: Data? {
    memory.latest.withLock { latest in
      guard let moment, moment.readCount != latest.readCount else { return latest.data }
      return moment.data
    }
  }

  /// Merges `data`, the record in memory, with `stored`, the one in the store: the fields of `stored`, and those of
  /// `data` that changed here. Returns `data` if `stored` is nil or cannot be read.
  ///
  /// - Complexity: O(n) in the bytes if no other process has stored the record since; otherwise also O(m²) in its m fields.
  public func merged(_ data: Data, with stored: Data?) -> Data {
    let last = base
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
  public static func == (one: SharedRecord, other: SharedRecord) -> Bool { one.memory === other.memory }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(memory)) }
}
