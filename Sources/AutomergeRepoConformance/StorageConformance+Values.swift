import AutomergeRepo
import Foundation

/// Keys and their values.
extension StorageConformance {
  func savedValues(_ store: any StorageProvider) async throws {
    try expect(try await store.load(["a", "b"]) == nil, "load returns nil for a key without a value")
    try await store.save(["a", "b"], Data([1, 2, 3]))
    try expect(try await store.load(["a", "b"]) == Data([1, 2, 3]), "load returns what save was given")
    try expect(try await store.load(["a"]) == nil, "a prefix of a key has no value of its own")
    try await store.save(["a"], Data([5]))
    try expect(try await store.load(["a"]) == Data([5]), "a key and its prefix both have values")
    try expect(try await store.load(["a", "b"]) == Data([1, 2, 3]), "saving at a prefix leaves the longer key alone")
    try await store.save(["a", "b"], Data([4]))
    try expect(try await store.load(["a", "b"]) == Data([4]), "save replaces the value")
  }

  func emptyValues(_ store: any StorageProvider) async throws {
    try await store.save(["empty"], Data())
    try expect(try await store.load(["empty"]) == Data(), "a value without bytes is a value")
    try expect(
      try await store.loadRange([]) == [StoredItem(key: ["empty"], data: Data())], "a range has values without bytes")
  }

  func largeValues(_ store: any StorageProvider) async throws {
    let large = Data.pattern(byteCount: 4 << 20)
    try await store.save(["large"], large)
    try expect(try await store.load(["large"]) == large, "a value of 4 MiB comes back whole")
    try await store.save(["large"], Data([1]))
    try expect(try await store.load(["large"]) == Data([1]), "nothing of a longer value is left after a shorter one")
  }

  func emptyKeys(_ store: any StorageProvider) async throws {
    do throws(StorageError) {
      try await store.save([], Data([1]))
    } catch .invalidKey {
      return
    } catch {
      throw BrokenRule(description: "broken rule: saving without a key throws invalidKey, not \(error)")
    }
    throw BrokenRule(description: "broken rule: saving without a key throws invalidKey")
  }

  func strangeKeys(_ store: any StorageProvider) async throws {
    let names = [
      "", ".", "..", "../x", "/etc/passwd", "a/b", "a%2fb", "a=b", "%", "%25", "a\u{0}b", "ä", "A", "a", ".hidden",
      "x.bin", "😀", " ", "-", String(repeating: "n", count: 120),
    ]
    for (index, name) in names.enumerated() {
      try await store.save([name], Data([UInt8(index)]))
      try await store.save(["in", name, "leaf"], Data([UInt8(index)]))
    }
    for (index, name) in names.enumerated() {
      let shown = name.debugDescription
      try expect(try await store.load([name]) == Data([UInt8(index)]), "the key \(shown) has its own value")
      try expect(
        try await store.loadRange(["in", name]) == [StoredItem(key: ["in", name, "leaf"], data: Data([UInt8(index)]))],
        "the prefix \(shown) has its own range, with the key as it was saved")
    }
    try expect(Set(try await store.children(of: ["in"])) == Set(names), "children are named as in their keys")
    try await store.save(["a", "b/c"], Data([1]))
    try await store.save(["a", "b", "c"], Data([2]))
    try await store.save(["a/b", "c"], Data([3]))
    try expect(try await store.load(["a", "b/c"]) == Data([1]), "components do not run together")
    try expect(try await store.load(["a", "b", "c"]) == Data([2]), "components do not run together")
  }

  func ranges(_ store: any StorageProvider) async throws {
    let keys = [
      ["doc"], ["doc", "snapshot", "x"], ["doc", "incremental", "y"], ["doc", "incremental", "z"], ["docs", "q"],
    ]
    for (index, key) in keys.enumerated() { try await store.save(key, Data([UInt8(index)])) }
    try expect(
      Set(try await store.loadRange(["doc"]).map(\.key)) == Set(keys.dropLast()),
      "a range has the keys that begin with the whole components of the prefix")
    try expect(try await store.loadRange(["doc", "incremental"]).count == 2, "a longer prefix has a smaller range")
    try expect(
      try await store.loadRange(["doc", "snapshot", "x"]) == [StoredItem(key: keys[1], data: Data([1]))],
      "the range of a whole key is its value")
    try expect(try await store.loadRange(["do"]).isEmpty, "half a component is not a prefix")
    try expect(try await store.loadRange(["none"]).isEmpty, "the range of a prefix without keys is empty")
    try expect(
      Set(try await store.loadRange([]).map(\.key)) == Set(keys), "the range of the empty prefix is everything")
    for number in 0..<300 { try await store.save(["many", "\(number)"], Data([UInt8(number & 255)])) }
    let many = try await store.loadRange(["many"])
    try expect(many.count == 300 && Set(many).count == 300, "a range of 300 keys has each of them once")
    try expect(
      many.allSatisfy { $0.data == Data([UInt8((Int($0.key[1]) ?? -1) & 255)]) }, "a range has the value of each key")
  }

  func children(_ store: any StorageProvider) async throws {
    for key in [["doc"], ["doc", "s", "1"], ["doc", "i", "2"], ["doc", "i", "3"], ["docs", "q"]] {
      try await store.save(key, Data([1]))
    }
    let (top, below) = (try await store.children(of: []), try await store.children(of: ["doc"]))
    try expect(top.sorted() == ["doc", "docs"], "children of the empty prefix are the first components, each once")
    try expect(below.sorted() == ["i", "s"], "children are the components that follow the prefix, each once")
    try expect(
      try await store.children(of: ["doc", "i"]).sorted() == ["2", "3"], "a prefix may have several components")
    try expect(try await store.children(of: ["doc", "s", "1"]).isEmpty, "a key that is no prefix has no children")
    try expect(try await store.children(of: ["none"]).isEmpty, "a prefix without keys has no children")
  }

  func removal(_ store: any StorageProvider) async throws {
    for (index, key) in [["d", "s", "1"], ["d", "i", "2"], ["d"], ["dd"], ["e", "i", "3"]].enumerated() {
      try await store.save(key, Data([UInt8(index)]))
    }
    try await store.remove(["d", "s", "1"])
    try await store.remove(["never", "was"])
    try expect(try await store.load(["d", "s", "1"]) == nil, "a removed key has no value")
    try expect(try await store.load(["d", "i", "2"]) == Data([1]), "removing a key leaves its neighbours")
    try await store.remove(["d"])
    try expect(try await store.load(["d", "i", "2"]) == Data([1]), "removing a key leaves longer keys")
    try await store.save(["d"], Data([2]))
    try await store.removeRange(["d"])
    try await store.removeRange(["d"])
    try expect(
      Set(try await store.loadRange([]).map(\.key)) == [["dd"], ["e", "i", "3"]],
      "removing a range removes the prefix and all keys below it, and nothing else")
    try expect(try await store.children(of: []).sorted() == ["dd", "e"], "a prefix without keys is not a child")
    try await store.save(["d", "s", "1"], Data([9]))
    try expect(try await store.load(["d", "s", "1"]) == Data([9]), "a removed key can be saved again")
  }

  func settingAside(_ store: any StorageProvider) async throws {
    let (bad, good) = (StoredItem(key: ["d", "x"], data: Data([0])), StoredItem(key: ["d", "x"], data: Data([1])))
    try await store.save(good.key, good.data)
    try await store.setAside(bad)
    try expect(try await store.load(good.key) == good.data, "setAside leaves a value that has changed meanwhile")
    try await store.setAside(good)
    let left = try await store.load(good.key)
    try expect(left == nil || left == good.data, "setAside moves the value, or leaves it")
    try await store.save(good.key, good.data)
    try expect(try await store.load(good.key) == good.data, "a value can be saved where another was set aside")
    try expect(try await store.loadRange(["d"]) == [good], "what was set aside is in no range")
  }
}
