import AutomergeRepo
import Foundation
import Synchronization

/// A store that fails on demand, or is cut off like that of a process that has died.
public final class FaultyStorage: StorageProvider {
  private struct State {
    var failingSaves = 0
    /// Of which saves fail; nil for all.
    var failingPrefix: String?
    var failsLoads = false
    var failsRemoves = false
    var isDead = false
    /// The loads that wait; nil if none has to.
    var heldLoads: [CheckedContinuation<Void, Never>]?
    var saveCount = 0
    /// Of what saves wait, and those that do.
    var slowPrefix: String?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let base: any StorageProvider
  private let state = Mutex(State())

  public init(_ base: any StorageProvider) { self.base = base }

  /// The next so many saves find the disk full: of all keys, or of those that begin with `prefix`.
  public func failSaves(_ count: Int, of prefix: String? = nil) {
    state.withLock { ($0.failingSaves, $0.failingPrefix) = (count, prefix) }
  }
  public func failLoads(_ fails: Bool) { state.withLock { $0.failsLoads = fails } }
  public func failRemoves(_ fails: Bool) { state.withLock { $0.failsRemoves = fails } }
  /// From now on loads wait for `goOnLoading`.
  public func holdLoads() { state.withLock { $0.heldLoads = $0.heldLoads ?? [] } }

  public var heldLoadCount: Int { state.withLock { $0.heldLoads?.count ?? 0 } }

  /// Lets the first so many of the loads that wait go on; later ones wait still.
  public func goOnLoading(_ count: Int) {
    let released = state.withLock { state in
      let released = state.heldLoads?.prefix(count) ?? []
      state.heldLoads?.removeFirst(released.count)
      return released
    }
    for load in released { load.resume() }
  }

  public func goOnLoading() {
    let held = state.withLock { state in
      defer { state.heldLoads = nil }
      return state.heldLoads ?? []
    }
    for load in held { load.resume() }
  }

  /// From now on nothing that is written arrives.
  public func die() { state.withLock { $0.isDead = true } }
  /// From now on saves of keys that begin with `prefix` wait, until nil is passed.
  public func holdSaves(of prefix: String?) {
    let released = state.withLock { state in
      defer { state.waiting = [] }
      state.slowPrefix = prefix
      return state.waiting
    }
    for save in released { save.resume() }
  }
  public var heldSaveCount: Int { state.withLock { $0.waiting.count } }
  public var saveCount: Int { state.withLock { $0.saveCount } }

  private var isDead: Bool { state.withLock { $0.isDead } }

  private func checkLoad() async throws(StorageError) {
    await withCheckedContinuation { load in
      let waits = state.withLock { state in
        state.heldLoads?.append(load)
        return state.heldLoads != nil
      }
      if !waits { load.resume() }
    }
    if state.withLock({ $0.failsLoads }) { throw .failed(operation: "read", code: 5) }
  }

  public func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    try await checkLoad()
    return try await base.load(key)
  }

  public func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    let fails = state.withLock { state in
      guard state.failingSaves > 0, state.failingPrefix ?? key.first == key.first else {
        state.saveCount += 1
        return false
      }
      state.failingSaves -= 1
      return true
    }
    if fails { throw .full }
    await withCheckedContinuation { continuation in
      let waits = state.withLock { state in
        guard let prefix = state.slowPrefix, key.first == prefix else { return false }
        state.waiting.append(continuation)
        return true
      }
      if !waits { continuation.resume() }
    }
    if !isDead { try await base.save(key, data) }
  }

  public func remove(_ key: StorageKey) async throws(StorageError) {
    if state.withLock({ $0.failsRemoves }) { throw .failed(operation: "write", code: 5) }
    if !isDead { try await base.remove(key) }
  }

  public func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    try await checkLoad()
    return try await base.loadRange(prefix)
  }

  public func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    if !isDead { try await base.removeRange(prefix) }
  }

  public func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    try await checkLoad()
    return try await base.children(of: prefix)
  }
}
