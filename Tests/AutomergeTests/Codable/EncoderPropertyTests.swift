import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Random values written over one another.
struct EncoderPropertyTests {
  /// Whatever JSON could say.
  private indirect enum Tree: Codable, Equatable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case list([Tree])
    case map([String: Tree])

    init(from decoder: any Decoder) throws {
      if let keyed = try? decoder.container(keyedBy: AnyCodingKey.self) {
        var entries: [String: Tree] = [:]
        for key in keyed.allKeys { entries[key.stringValue] = try keyed.decode(Tree.self, forKey: key) }
        self = .map(entries)
      } else if var unkeyed = try? decoder.unkeyedContainer() {
        var elements: [Tree] = []
        while !unkeyed.isAtEnd { elements.append(try unkeyed.decode(Tree.self)) }
        self = .list(elements)
      } else {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
          self = .null
        } else if let bool = try? single.decode(Bool.self) {
          self = .bool(bool)
        } else if let int = try? single.decode(Int.self) {
          self = .int(int)
        } else if let double = try? single.decode(Double.self) {
          self = .double(double)
        } else {
          self = .string(try single.decode(String.self))
        }
      }
    }

    func encode(to encoder: any Encoder) throws {
      var single = encoder.singleValueContainer()
      switch self {
      case .null: try single.encodeNil()
      case .bool(let bool): try single.encode(bool)
      case .int(let int): try single.encode(int)
      case .double(let double): try single.encode(double)
      case .string(let string): try single.encode(string)
      case .list(let elements): try single.encode(elements)
      case .map(let entries): try single.encode(entries)
      }
    }

    static func random(depth: Int, _ random: inout SeededGenerator) -> Tree {
      switch Int.random(in: depth == 0 ? 3...4 : 0...9, using: &random) {
      case 0: .null
      case 1: .bool(Bool.random(using: &random))
      case 2: .double(Double(Int.random(in: -9...9, using: &random)) / 4)
      case 3: .int(Int.random(in: 0...3, using: &random))
      case 4: .string(["", "a", "é", "e\u{301}"].randomElement(using: &random) ?? "")
      case 5...7: .list((0..<Int.random(in: 0...5, using: &random)).map { _ in .random(depth: depth - 1, &random) })
      default: map(depth: depth, &random)
      }
    }

    static func map(depth: Int, _ random: inout SeededGenerator) -> Tree {
      .map(
        Dictionary(
          ["a", "b", "c", "d"].filter { _ in Bool.random(using: &random) }.map {
            ($0, Tree.random(depth: depth - 1, &random))
          },
          uniquingKeysWith: { first, _ in first }))
    }

    /// The same tree with something changed here and there.
    func varied(_ random: inout SeededGenerator) -> Tree {
      switch self {
      case .list(var elements):
        if let index = elements.indices.randomElement(using: &random) {
          switch Int.random(in: 0...3, using: &random) {
          case 0: elements.remove(at: index)
          case 1: elements.insert(.random(depth: 1, &random), at: index)
          default: elements[index] = elements[index].varied(&random)
          }
        } else {
          elements.append(.random(depth: 1, &random))
        }
        return .list(elements)
      case .map(var entries):
        guard let key = ["a", "b", "c", "d"].randomElement(using: &random) else { return self }
        entries[key] = entries[key].map { $0.varied(&random) } ?? .random(depth: 2, &random)
        return .map(entries)
      default: return .random(depth: 1, &random)
      }
    }
  }

  private func read(_ document: Document) throws -> Tree { try AutomergeDecoder(doc: document).decode(Tree.self) }

  private func write(_ tree: Tree, _ document: Document) throws {
    try AutomergeEncoder(doc: document, strategy: .override).encode(tree)
  }

  @Test(arguments: SeedCount.part(of: 1...30 as ClosedRange<UInt64>)) func whatIsWrittenIsReadAndWrittenAgainIsNothing(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let document = Document()
    var tree = Tree.map(depth: 4, &random)
    for step in 0..<12 {
      try write(tree, document)
      #expect(try read(document) == tree, "seed \(seed), step \(step)")
      #expect(try document.operations { try write(tree, document) } == 0, "seed \(seed), step \(step)")
      #expect(document.brokenInvariant() == nil, "seed \(seed), step \(step)")
      #expect(try read(Document(document.save())) == tree, "seed \(seed), step \(step)")
      tree = step % 4 == 3 ? Tree.map(depth: 4, &random) : tree.varied(&random)
    }
  }

  @Test(arguments: SeedCount.part(of: 1...20 as ClosedRange<UInt64>)) func modelsOfTwoPeopleConvergeInEitherDirection(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let alice = Document()
    try write(Tree.map(depth: 3, &random), alice)
    let bob = alice.fork()
    for step in 0..<8 {
      for document in [alice, bob] { try write(try read(document).varied(&random), document) }
      if Bool.random(using: &random) {
        try alice.merge(other: bob)
        try bob.merge(other: alice)
        #expect(try read(alice) == read(bob), "seed \(seed), step \(step)")
        #expect(alice.heads() == bob.heads() && alice.brokenInvariant() == nil, "seed \(seed), step \(step)")
      }
    }
  }

  @Test func aLongListIsWrittenOnceAndThenOnlyWhereItChanges() throws {
    let document = Document()
    var rows = (0..<800).map { ["id": $0, "value": $0 * 7] }
    try AutomergeEncoder(doc: document).encode(["rows": rows])
    rows.insert(["id": -1, "value": 0], at: 400)
    rows.remove(at: 17)
    rows[700]["value"] = 1
    // A map with two keys comes, one goes, one value changes.
    #expect(try document.operations { try AutomergeEncoder(doc: document).encode(["rows": rows]) } == 5)
    #expect(try AutomergeDecoder(doc: document).decode([String: [[String: Int]]].self) == ["rows": rows])
  }
}
