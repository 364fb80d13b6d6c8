import AutomergeRepo
import AutomergeRepoConformance
import Foundation

/// A store with one fault.
struct FaultyProvider: StorageProvider {
  /// The fault.
  enum Fault: String, CaseIterable, Sendable {
    case secondSaveIgnored, emptyIsNothing, cutShort, emptyKeyAccepted, joinedKeys, halfComponents, prefixLeftOut
    case doubleChildren, rangeStays, neighboursRemoved, commitBackwards, recordsReplaced, asideWithoutLooking
    case forgetfulOpening, ownCache, halfValues, lostSaves, halfCommits

    /// The check that has to find it.
    var check: StorageConformance.Check {
      switch self {
      case .secondSaveIgnored: .savedValues
      case .emptyIsNothing: .emptyValues
      case .cutShort: .largeValues
      case .emptyKeyAccepted: .emptyKeys
      case .joinedKeys: .strangeKeys
      case .halfComponents, .prefixLeftOut: .ranges
      case .doubleChildren: .children
      case .rangeStays, .neighboursRemoved: .removal
      case .commitBackwards: .commitOrder
      case .recordsReplaced: .recordUpdates
      case .asideWithoutLooking: .settingAside
      case .forgetfulOpening: .reopening
      case .ownCache: .sharing
      case .halfValues: .wholeValues
      case .lostSaves: .concurrentWriters
      case .halfCommits: .atomicCommits
      }
    }
  }

  private let base: InMemoryStorage
  private let cache = InMemoryStorage()
  private let fault: Fault

  init(_ base: InMemoryStorage, _ fault: Fault) { (self.base, self.fault) = (base, fault) }

  private func key(_ key: StorageKey) -> StorageKey {
    fault == .joinedKeys && !key.isEmpty ? [key.joined(separator: "/")] : key
  }

  func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    let data = try await base.load(self.key(key))
    switch fault {
    case .emptyIsNothing: return data?.isEmpty == true ? nil : data
    case .ownCache:
      let cached = try await cache.load(key)
      return cached ?? data
    default: return data
    }
  }

  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    switch fault {
    case .emptyKeyAccepted where key.isEmpty: return
    case .secondSaveIgnored: if try await base.load(key) != nil { return }
    case .ownCache: try await cache.save(key, data)
    case .cutShort: return try await base.save(key, data.prefix(1 << 20))
    case .halfValues:
      try await base.save(key, data.prefix(data.count / 2))
      for _ in 0..<10 { await Task.yield() }
    case .lostSaves where key.last?.hasSuffix("-15") == true:
      let before = try await base.loadRange(["shared"])
      // Until another writer has written in between.
      for _ in 0..<2000 where try await base.loadRange(["shared"]).count == before.count { await Task.yield() }
      try await base.removeRange(["shared"])
      for item in before { try await base.save(item.key, item.data) }
    default: break
    }
    try await base.save(self.key(key), data)
  }

  func remove(_ key: StorageKey) async throws(StorageError) {
    if fault == .neighboursRemoved { try await base.removeRange(key) }
    try await base.remove(self.key(key))
  }

  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    switch fault {
    case .halfComponents:
      let text = prefix.joined(separator: "/")
      return try await base.loadRange([]).filter { $0.key.joined(separator: "/").hasPrefix(text) }
    case .prefixLeftOut: return try await base.loadRange(prefix).filter { $0.key != prefix }
    default: return try await base.loadRange(key(prefix))
    }
  }

  func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    if fault != .rangeStays { try await base.removeRange(key(prefix)) }
  }

  func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    let children = try await base.children(of: key(prefix))
    return fault == .doubleChildren ? children + children : children
  }

  func commit(_ changes: [StorageChange]) async throws(StorageError) {
    for change in fault == .commitBackwards ? changes.reversed() : changes {
      switch change {
      case .save(let item): try await save(item.key, item.data)
      case .remove(let key): try await remove(key)
      case .removeRange(let prefix): try await removeRange(prefix)
      case .update(let item, let record):
        let stored = fault == .recordsReplaced ? nil : try await load(item.key)
        try await save(item.key, record.merged(item.data, with: stored))
        record.isStored(item.data)
      }
    }
  }

  func setAside(_ item: StoredItem) async throws(StorageError) {
    if fault == .asideWithoutLooking { try await remove(item.key) }
  }
}
