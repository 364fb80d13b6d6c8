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
    /// The number of the bytes made here that `data` is, or comes before.
    var number = 0
  }

  private final class Memory: Sendable {
    let latest: Mutex<Known>
    /// How many times bytes were made to be stored.
    let count = Mutex(0)

    init(_ known: Known) { latest = Mutex(known) }
  }

  /// The same for the record and all that `asKnownNow` has returned of it.
  private let memory: Memory
  /// What was known when the bytes to store were made; nil for the record itself.
  private let moment: Known?

  /// - Parameter data: the record as stored; nil if there is none.
  public init(_ data: Data?) { (memory, moment) = (Memory(Known(data: data)), nil) }

  private init(_ memory: Memory, at moment: Known) { (self.memory, self.moment) = (memory, moment) }

  /// For a commit of bytes that are made now. When it is carried out, the record may have been read again, or later bytes have
  /// been stored: these bytes lack what is in those, and would otherwise seem to have changed that.
  public var asKnownNow: SharedRecord {
    var moment = memory.latest.withLock { $0 }
    moment.number = memory.count.withLock { count in
      count += 1
      return count
    }
    return SharedRecord(memory, at: moment)
  }

  /// Call with what was read from the store once it is in memory, and with what is in memory once it is stored.
  public func isStored(_ data: Data) {
    memory.latest.withLock { latest in
      guard let moment else { return latest = Known(data: data, readCount: latest.readCount + 1) }
      if Self.continues(latest, moment) { (latest.data, latest.number) = (data, moment.number) }
    }
  }

  /// What the bytes to store were made from. If this process has stored earlier ones since, those.
  private var base: Data? {
    memory.latest.withLock { latest in
      guard let moment else { return latest.data }
      return Self.continues(latest, moment) ? latest.data : moment.data
    }
  }

  /// Whether nothing was stored or read since `asKnownNow`, which was made before the record was read: otherwise what was read
  /// may be older.
  public var isStillKnown: Bool {
    guard let moment else { return true }
    return memory.latest.withLock { $0.readCount == moment.readCount && $0.data == moment.data }
  }

  private static func continues(_ latest: Known, _ moment: Known) -> Bool {
    latest.readCount == moment.readCount && latest.number < moment.number
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
