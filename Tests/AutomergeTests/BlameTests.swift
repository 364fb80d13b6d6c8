import Foundation
import TestSupport
import Testing

@testable import Automerge

struct BlameTests {
  @Test func everySpanNamesTheChangeThatWroteIt() throws {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "hello world")
    document.commitWith(timestamp: Date(timeIntervalSince1970: 10))
    let first = try require(document.heads().first)
    let fork = document.fork()
    try fork.rename("0b")
    try fork.spliceText(obj: text, start: 6, delete: 0, value: "wide ")
    fork.commitWith(timestamp: Date(timeIntervalSince1970: 20))
    let second = try require(fork.heads().first)
    try document.spliceText(obj: text, start: 0, delete: 1, value: "J")
    document.commitWith(timestamp: Date(timeIntervalSince1970: 30))
    let third = try require(document.heads().first)
    try document.merge(other: fork)
    func span(_ start: UInt64, _ end: UInt64, _ change: ChangeHash, _ actor: Document, _ seconds: Double) -> BlameSpan {
      BlameSpan(
        start: start, end: end, change: change, actor: actor.actor, timestamp: Date(timeIntervalSince1970: seconds))
    }
    #expect(try document.text(obj: text) == "Jello wide world")
    #expect(
      try document.blame(obj: text) == [
        span(0, 1, third, document, 30), span(1, 6, first, document, 10), span(6, 11, second, fork, 20),
        span(11, 16, first, document, 10),
      ])
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64], [TextEncoding.unicodeScalar, .utf8, .utf16, .graphemeCluster])
  func spansCoverTheTextInTheUnitsOfTheDocument(seed: UInt64, encoding: TextEncoding) throws {
    var random = SeededGenerator(seed: seed)
    let document = Document(textEncoding: encoding)
    try document.rename("0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let fork = document.fork()
    try fork.rename("0b")
    var states: [Set<ChangeHash>] = []
    for _ in 0..<60 {
      let (one, other) = Bool.random(using: &random) ? (document, fork) : (fork, document)
      let length = one.length(obj: text), start = UInt64.random(in: 0...length, using: &random)
      try one.spliceText(
        obj: text, start: start, delete: Int64(UInt64.random(in: 0...min(2, length - start), using: &random)),
        value: ["ab", "é", "😀", "x\n"][Int.random(in: 0..<4, using: &random)])
      if Bool.random(using: &random) { one.commitWith(timestamp: Date(timeIntervalSince1970: 0)) }
      if Int.random(in: 0..<4, using: &random) == 0 { try one.merge(other: other) }
      if one === document { states.append(document.heads()) }
    }
    try document.merge(other: fork)
    let spans = try document.blame(obj: text)
    #expect(spans.first?.start == 0, "seed \(seed)")
    #expect(spans.last?.end == document.length(obj: text), "seed \(seed)")
    for (span, next) in zip(spans, spans.dropFirst()) {
      #expect(span.end == next.start && span.change != next.change, "seed \(seed)")
    }
    for state in states {
      let past = try document.forkAt(heads: state)
      #expect(try document.blameAt(obj: text, heads: state) == past.blame(obj: text), "seed \(seed)")
    }
    for _ in 0..<40 {
      let bounds = (0..<2).map { _ in UInt64.random(in: 0...document.length(obj: text) + 2, using: &random) }.sorted()
      let part = bounds[0]..<bounds[1]
      #expect(try document.blame(obj: text, in: part) == clipped(spans, to: part), "seed \(seed), \(part)")
    }
    guard encoding == .unicodeScalar else { return }
    for span in spans { try expectAuthor(span, of: document, text, "seed \(seed)") }
  }

  /// One change wrote all of a run, or every letter of it is a change.
  @Test(arguments: [1, 40]) func aPartThatBeginsAndEndsInsideARunIsCutToIt(changes: Int) throws {
    for words in ["forty ASCII letters, just to count them.", "vierzig Zeichen, éines länger: 😀 ist nötig."] {
      let document = try Document(actor: "0a")
      let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
      for letter in changes == 1 ? [words] : words.map(String.init) {
        try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: letter)
        document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      }
      let spans = try document.blame(obj: text), length = document.length(obj: text)
      #expect(spans.count == (changes == 1 ? 1 : words.count))
      for start in 0...length {
        for end in start...length {
          #expect(try document.blame(obj: text, in: start..<end) == clipped(spans, to: start..<end))
        }
      }
      #expect(try document.blame(obj: text, in: .max - 1 ..< .max) == [])
    }
  }

  /// What `blame(obj:in:)` has to answer.
  private func clipped(_ spans: [BlameSpan], to part: Range<UInt64>) -> [BlameSpan] {
    spans.compactMap { span in
      let (start, end) = (max(span.start, part.lowerBound), min(span.end, part.upperBound))
      guard start < end else { return nil }
      return BlameSpan(start: start, end: end, change: span.change, actor: span.actor, timestamp: span.timestamp)
    }
  }

  /// Looks up every character of a span by itself.
  private func expectAuthor(_ span: BlameSpan, of document: Document, _ text: ObjId, _ note: Comment) throws {
    try document.withCore { core in
      let tree = try core.text(text).tree
      for index in Int(span.start)..<Int(span.end) {
        let id = tree.operation(at: index, .scalars)
        let row = core.graph.records.firstIndex {
          $0.actor == id.actor && $0.startOp <= id.counter && id.counter <= $0.maxOp
        }
        #expect(row.map { core.graph.hashes[$0] } == span.change, note)
      }
    }
  }
}
