import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Replicas that type at random and merge at random.
struct DocumentTextTests {
  private static let pieces = ["a", "b", "hello ", "é", "😀", "\n", "e\u{301}", "line\n", "世界", "x y z "]

  private final class Replica {
    let document: Document
    let text: ObjId
    var mirror: [UInt8] = []

    init(_ document: Document, _ text: ObjId) throws {
      (self.document, self.text) = (document, text)
      mirror = Array(try document.text(obj: text).utf8)
    }

    func apply(_ edits: [TextEdit]) throws {
      for edit in edits where edit.object == text { try edit.apply(to: &mirror) }
    }

    func check(_ note: Comment) throws {
      #expect(try Array(document.text(obj: text).utf8) == mirror, note)
      #expect(document.brokenInvariant() == nil, note)
      let measure = try document.textMeasure(obj: text)
      #expect(measure == TextMeasure(of: mirror), note)
    }

    func edit(_ random: inout SeededGenerator) throws {
      let scalars = String(decoding: mirror, as: UTF8.self).unicodeScalars.count
      let start = Int.random(in: 0...scalars, using: &random)
      let delete = Bool.random(using: &random) ? Int.random(in: 0...min(12, scalars - start), using: &random) : 0
      let insert =
        Int.random(in: 0..<3, using: &random) > 0 ? DocumentTextTests.pieces.randomElement(using: &random) ?? "" : ""
      var plain = Array(String(decoding: mirror, as: UTF8.self).unicodeScalars)
      plain.replaceSubrange(start..<start + delete, with: Array(insert.unicodeScalars))
      try document.spliceText(obj: text, start: UInt64(start), delete: Int64(delete), value: insert)
      var result = String.UnicodeScalarView()
      result.append(contentsOf: plain)
      mirror = Array(String(result).utf8)
    }
  }

  @Test(arguments: SeedCount.part(of: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64]))
  func replicasThatTypeAndMergeAtRandomConverge(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let first = try Document(actor: "aa")
    let text = try first.putObject(obj: .ROOT, key: "content", ty: .Text)
    first.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    var replicas = [try Replica(first, text)]
    for index in 1..<4 {
      let fork = first.fork()
      try fork.rename("0\(index)ff")
      replicas.append(try Replica(fork, text))
    }
    for step in 0..<300 {
      let replica = replicas[Int.random(in: 0..<replicas.count, using: &random)]
      if Int.random(in: 0..<4, using: &random) > 0 {
        try replica.edit(&random)
        if Bool.random(using: &random) { replica.document.commitWith() }
      } else {
        let other = replicas[Int.random(in: 0..<replicas.count, using: &random)]
        try replica.apply(replica.document.mergeWithTextEdits(other: other.document))
      }
      try replica.check("seed \(seed), step \(step)")
    }
    for _ in 0..<2 {
      for replica in replicas {
        for other in replicas { try replica.apply(replica.document.mergeWithTextEdits(other: other.document)) }
      }
    }
    for replica in replicas {
      try replica.check("seed \(seed), at the end")
      #expect(replica.mirror == replicas[0].mirror, "seed \(seed)")
      #expect(replica.document.heads() == replicas[0].document.heads(), "seed \(seed)")
      let loaded = try Document(replica.document.save())
      #expect(loaded.heads() == replica.document.heads(), "seed \(seed)")
      #expect(try Array(loaded.text(obj: text).utf8) == replica.mirror, "seed \(seed)")
      #expect(loaded.saveUncompressed() == replica.document.saveUncompressed(), "seed \(seed)")
      #expect(loaded.brokenInvariant() == nil, "seed \(seed)")
    }
  }
}
