import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Typing on and backspacing where the last edit was, in a text of many leaves, while others write into it too.
struct TypingTests {
  /// A text of many short runs, by one actor.
  private static func scattered(_ random: inout SeededGenerator) throws -> (Document, ObjId) {
    let document = try Document(actor: "aa")
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    for count in 0..<300 {
      let start = UInt64.random(in: 0...UInt64(2 * count), using: &random)
      try document.spliceText(obj: text, start: start, delete: 0, value: "ab")
    }
    document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    return (document, text)
  }

  @Test(arguments: SeedCount.part(of: [1, 2, 3, 4] as [UInt64]))
  func typingBetweenTheEditsOfOthersKeepsTheTextRight(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (first, text) = try Self.scattered(&random)
    let second = first.fork()
    try second.rename("bb")
    for step in 0..<200 {
      for document in [first, second] {
        var plain = Array(try document.text(obj: text))
        var place = Int.random(in: 0...plain.count, using: &random)
        for _ in 0..<Int.random(in: 1..<8, using: &random) {
          if place > 0, Int.random(in: 0..<3, using: &random) == 0 {
            // Nearly always the letter before the place, and now and then one before that.
            place = max(0, place - ([1, 1, 1, 1, 2, 3].randomElement(using: &random) ?? 1))
            try document.spliceText(obj: text, start: UInt64(place), delete: 1)
            plain.remove(at: place)
          } else {
            let letter = "abcdefgh\n\n".randomElement(using: &random) ?? "a"
            try document.spliceText(obj: text, start: UInt64(place), delete: 0, value: String(letter))
            plain.insert(letter, at: place)
            place += 1
          }
          if Bool.random(using: &random) { document.commitWith(timestamp: Date(timeIntervalSince1970: 0)) }
          #expect(try document.text(obj: text) == String(plain), "seed \(seed), step \(step)")
        }
        if Bool.random(using: &random) { try document.merge(other: document === first ? second : first) }
        if step % 20 == 0 { #expect(document.brokenInvariant() == nil, "seed \(seed), step \(step)") }
      }
    }
    try first.merge(other: second)
    try second.merge(other: first)
    #expect(try first.text(obj: text) == second.text(obj: text), "seed \(seed)")
    #expect(first.brokenInvariant() == nil && second.brokenInvariant() == nil, "seed \(seed)")
    let loaded = try Document(first.save())
    #expect(try loaded.text(obj: text) == first.text(obj: text), "seed \(seed)")
    #expect(loaded.heads() == second.heads(), "seed \(seed)")
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func manyWritersAtOnePlaceConverge() throws {
    var random = SeededGenerator(seed: 3)
    let (base, text) = try Self.scattered(&random)
    let saved = base.save()
    var updates: [Data] = []
    for writer in 0..<300 {
      let document = try Document(saved)
      document.actor = try #require(ActorId(data: Data([UInt8(writer >> 8), UInt8(writer & 255)])))
      try document.spliceText(obj: text, start: 100, delete: 0, value: String(writer % 10))
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      updates.append(document.encodeNewChanges())
    }
    let replicas = try (0..<3).map { _ in try Document(saved) }
    for replica in replicas {
      for update in updates.shuffled(using: &random) { try replica.applyEncodedChanges(encoded: update) }
      #expect(replica.brokenInvariant() == nil)
      #expect(try replica.text(obj: text) == replicas[0].text(obj: text))
      #expect(replica.heads() == replicas[0].heads())
    }
    #expect(replicas[0].heads().count == 300)
  }
}
