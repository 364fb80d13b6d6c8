import AutomergeRepo
import Foundation

/// What every storage provider must do. A provider's tests run it over fresh, empty stores.
public enum StorageSuite {
  /// What the provider did wrong.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public static func run(_ makeEmpty: () async throws -> any StorageProvider) async throws {
    try await keepsWhatIsSaved(try await makeEmpty())
    try await rangesAreByComponent(try await makeEmpty())
    try await strangeKeysStayApart(try await makeEmpty())
    try await removingIsComplete(try await makeEmpty())
    try await writersAtOnceDoNotHurt(try await makeEmpty())
    try await updatesKeepOtherFields(try await makeEmpty())
  }

  private static func updatesKeepOtherFields(_ store: any StorageProvider) async throws {
    func record(_ title: String, _ words: Int, isDeleted: Bool = false) -> Data {
      let deleted: CBOR? = isDeleted ? .bool(true) : nil
      return Data(CBOR.record(["title": .text(title), "words": .integer(words), "deleted": deleted]).encoded())
    }
    func update(_ data: Data, _ known: SharedRecord) async throws -> CBOR? {
      try await store.commit([.update(StoredItem(key: ["r"], data: data), of: known)])
      return try await store.record(at: ["r"])
    }
    let (mine, others) = (SharedRecord(nil), SharedRecord(record("Trip", 1)))
    var stored = try await update(record("Trip", 1), mine)
    try expect(stored?["title"] == .text("Trip"), "what is not there yet is stored")
    _ = try await update(record("Trip", 1, isDeleted: true), others)
    stored = try await update(record("Journey", 1), mine)
    try expect(stored?["title"] == .text("Journey") && stored?["deleted"] == .bool(true), "another's field stays")
    stored = try await update(record("Trip", 2), others)
    try expect(stored?["title"] == .text("Journey") && stored?["deleted"] == nil, "a field that was removed here goes")
    try expect(stored?["words"] == .integer(2), "a field that was changed here is stored")
    try await store.save(["r"], Data([0xFF]))
    stored = try await update(record("Trip", 3), mine)
    try expect(stored?["words"] == .integer(3), "what cannot be read is replaced")
  }

  private static func keepsWhatIsSaved(_ store: any StorageProvider) async throws {
    try expect(try await store.load(["a", "b"]) == nil, "nothing is nil")
    try await store.save(["a", "b"], Data([1, 2, 3]))
    try expect(try await store.load(["a", "b"]) == Data([1, 2, 3]), "what was saved is loaded")
    try await store.save(["a", "b"], Data([4]))
    try expect(try await store.load(["a", "b"]) == Data([4]), "the last save counts")
    try await store.save(["a", "empty"], Data())
    try expect(try await store.load(["a", "empty"]) == Data(), "no bytes are not nothing")
    let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try await store.save(["large"], large)
    try expect(try await store.load(["large"]) == large, "large values come back whole")
    do {
      try await store.save([], Data([1]))
      throw Failure(description: "a key without components was accepted")
    } catch StorageError.invalidKey {}
  }

  private static func rangesAreByComponent(_ store: any StorageProvider) async throws {
    let keys = [
      ["doc"], ["doc", "snapshot", "x"], ["doc", "incremental", "y"], ["doc", "incremental", "z"], ["docs", "q"],
    ]
    for (index, key) in keys.enumerated() { try await store.save(key, Data([UInt8(index)])) }
    try expect(Set(try await store.loadRange(["doc"]).map(\.key)) == Set(keys.dropLast()), "a prefix is of components")
    try expect(try await store.loadRange(["doc", "incremental"]).count == 2, "a longer prefix narrows")
    try expect(
      try await store.loadRange(["doc", "snapshot", "x"]).map(\.data) == [Data([1])], "a whole key is a prefix")
    try expect(try await store.loadRange(["do"]).isEmpty, "half a component is no prefix")
    try expect(Set(try await store.loadRange([]).map(\.key)) == Set(keys), "the empty prefix is everything")
    try expect(Set(try await store.children(of: [])) == ["doc", "docs"], "children at the root")
    try expect(Set(try await store.children(of: ["doc"])) == ["snapshot", "incremental"], "children below")
    try expect(try await store.children(of: ["none"]).isEmpty, "no children")
  }

  private static func strangeKeysStayApart(_ store: any StorageProvider) async throws {
    let names = [
      "", ".", "..", "../x", "/etc/passwd", "a/b", "a%2fb", "%", "%25", "a\u{0}b", "ä", "A", "a", ".hidden",
      "x.bin", "😀", " ", "-", String(repeating: "n", count: 120),
    ]
    for (index, name) in names.enumerated() {
      try await store.save([name], Data([UInt8(index)]))
      try await store.save(["in", name, "leaf"], Data([UInt8(index)]))
    }
    for (index, name) in names.enumerated() {
      try expect(try await store.load([name]) == Data([UInt8(index)]), "the key \(name.debugDescription) is its own")
      try expect(
        try await store.loadRange(["in", name]) == [StoredItem(key: ["in", name, "leaf"], data: Data([UInt8(index)]))],
        "the prefix \(name.debugDescription) is its own")
    }
    try expect(Set(try await store.children(of: ["in"])).count == Set(names).count, "each name is a child")
  }

  private static func removingIsComplete(_ store: any StorageProvider) async throws {
    try await store.save(["d", "s", "1"], Data([1]))
    try await store.save(["d", "i", "2"], Data([2]))
    try await store.save(["e", "i", "3"], Data([3]))
    try await store.remove(["d", "s", "1"])
    try await store.remove(["never", "was"])
    try expect(try await store.load(["d", "s", "1"]) == nil, "removed is gone")
    try expect(try await store.load(["d", "i", "2"]) == Data([2]), "its neighbour stays")
    try await store.removeRange(["d"])
    try await store.removeRange(["d"])
    try expect(try await store.loadRange([]).map(\.key) == [["e", "i", "3"]], "a range is gone, the rest stays")
    try expect(try await store.children(of: []) == ["e"], "what is empty is no child")
    try await store.save(["d", "s", "1"], Data([9]))
    try expect(try await store.load(["d", "s", "1"]) == Data([9]), "what was removed can come again")
  }

  private static func writersAtOnceDoNotHurt(_ store: any StorageProvider) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<8 {
            try await store.save(["doc", "incremental", "\(writer)-\(number)"], Data([UInt8(writer), UInt8(number)]))
            try await store.save(["doc", "same"], Data([7, 7]))
            if number > 0 { try await store.remove(["doc", "incremental", "\(writer)-\(number - 1)"]) }
            _ = try await store.loadRange(["doc"])
          }
        }
      }
      try await group.waitForAll()
    }
    try expect(try await store.loadRange(["doc", "incremental"]).count == 4, "each writer's last stays")
    try expect(try await store.load(["doc", "same"]) == Data([7, 7]), "equal writes agree")
  }

  private static func expect(_ isTrue: Bool, _ what: String) throws {
    if !isTrue { throw Failure(description: "not so: \(what)") }
  }
}
