import Foundation
import TestSupport
import Testing

@testable import Automerge

struct BurstTests {
  private func time(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_000_000 + seconds) }

  @Test func historyIsToldInBurstsOfOneAuthor() throws {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    document.commitWith(timestamp: time(0))
    for (place, letter) in "hello".enumerated() {
      try document.spliceText(obj: text, start: UInt64(place), delete: 0, value: String(letter))
      document.commitWith(timestamp: time(Double(place) * 30))
    }
    let first = document.heads()
    try document.spliceText(obj: text, start: 1, delete: 3)
    document.commitWith(timestamp: time(1000))
    let fork = document.fork()
    try fork.rename("0b")
    let visit = " from the other side of the sea, where it is warm"
    try fork.spliceText(obj: text, start: 2, delete: 0, value: visit)
    fork.commitWith(message: "a visit", timestamp: time(1010))
    try document.merge(other: fork)
    try document.put(obj: .ROOT, key: "other", value: .Int(1))
    document.commitWith(timestamp: time(1020))
    try document.spliceText(obj: text, start: 0, delete: 1, value: "H")
    document.commitWith(timestamp: time(1030))

    let bursts = try document.bursts(obj: text, excerptLength: 10)
    #expect(bursts.map(\.inserted) == [5, visit.count, 1] && bursts.map(\.deleted) == [0, 0, 4])
    #expect(bursts.map(\.excerpt) == ["hello", " from the ", "H"])
    #expect(bursts.map(\.message) == [nil, "a visit", nil])
    #expect(bursts.map(\.actor.hexadecimal) == ["0a", "0b", "0a"])
    #expect(bursts[0].start == time(0) && bursts[0].end == time(120) && bursts[2].start == time(1000))
    #expect(bursts[0].heads == first && bursts[2].heads == document.heads())
    #expect(try document.textAt(obj: text, heads: bursts[0].heads) == "hello")
    #expect(try document.textAt(obj: text, heads: bursts[1].heads).hasPrefix("ho from the other"))
  }

  /// Two people write at once. What a person wrote is the difference of the states before and after their burst.
  @Test func theStateBeforeABurstHasNothingOfIt() throws {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    document.commitWith(timestamp: time(0))
    let start = document.heads()
    let fork = document.fork()
    try fork.rename("0b")
    for step in 1...3 {
      for (one, other, value) in [(document, fork, "a\(step) "), (fork, document, "b\(step) ")] {
        try one.spliceText(obj: text, start: 0, delete: 0, value: value)
        one.commitWith(timestamp: time(Double(step)))
        try other.merge(other: one)
      }
    }
    let bursts = try document.bursts(obj: text)
    #expect(bursts.map(\.actor.hexadecimal) == ["0a", "0b"] && bursts[0].before == start)
    let states = try bursts.map { [$0.before, $0.heads] }.map {
      try $0.map { try document.textAt(obj: text, heads: $0) }
    }
    #expect(states == [["", "a3 b2 a2 b1 a1 "], ["a1 ", "b3 a3 b2 a2 b1 a1 "]])
    #expect(try document.bursts(obj: text, before: bursts[1].heads, limit: 1)?.first?.before == start, "on a page, too")
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func pagesAreTheWholeHistoryInPieces(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let fork = document.fork()
    try fork.rename("0b")
    for step in 0..<80 {
      let (one, other) = Bool.random(using: &random) ? (document, fork) : (fork, document)
      try one.spliceText(obj: text, start: 0, delete: 0, value: "x")
      one.commitWith(timestamp: time(Double(step) * Double.random(in: 0...300, using: &random)))
      if Int.random(in: 0..<3, using: &random) == 0 { try one.merge(other: other) }
    }
    try document.merge(other: fork)
    let all = try document.bursts(obj: text)
    #expect(all.count > 10, "seed \(seed)")
    for limit in [1, 3, 1000] {
      var pages: [Burst] = [], before: Set<ChangeHash>?
      while case let page = try #require(try document.bursts(obj: text, before: before, limit: limit)), !page.isEmpty {
        #expect(page.count <= limit)
        pages = page + pages
        before = page[0].heads
      }
      #expect(pages == all, "seed \(seed), \(limit)")
    }
    for limit in [1, 3, 1000] {
      let recent = try document.recentStates(obj: text, limit: limit)
      #expect(recent.map(\.heads) == all.suffix(limit).reversed().map(\.heads), "seed \(seed), \(limit)")
      #expect(recent.map(\.end) == all.suffix(limit).reversed().map(\.end), "seed \(seed), \(limit)")
    }
    for burst in all {
      #expect(try document.burst(obj: text, with: burst.heads)?.numbers == burst.numbers, "seed \(seed)")
    }
    let nowhere: Set<ChangeHash> = [try #require(ChangeHash(bytes: [UInt8](repeating: 7, count: 32)))]
    #expect(try document.bursts(obj: text, before: nowhere, limit: 1) == nil)
    #expect(try document.burst(obj: text, with: nowhere) == nil)
  }

  /// Thousands of changes beside each other: to name every state of them would be millions of hashes.
  @Test func aPageOfStatesWithManyHeadsIsShorter() throws {
    let document = try Document(actor: "ff")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    document.commitWith(timestamp: time(0))
    let forks = try (0..<200).map { number in
      let fork = document.fork()
      try fork.rename(String(0x1000 + number, radix: 16))
      try fork.spliceText(obj: text, start: 0, delete: 0, value: "x")
      fork.commitWith(timestamp: time(0))
      return fork
    }
    for fork in forks { try document.merge(other: fork) }
    #expect(document.heads().count == 200)
    let page = try #require(try document.bursts(obj: text, before: nil, limit: 100, maximumHeads: 1000))
    #expect(page.last?.heads.count == 200 && page.reduce(0) { $0 + $1.heads.count } <= 1000 && page.count == 5)
    #expect(try document.bursts(obj: text, before: nil, limit: 100, maximumHeads: 10)?.count == 1, "never none")
    #expect(
      try document.recentStates(obj: text, limit: 100, maximumHeads: 1000).map(\.heads) == page.reversed().map(\.heads))
    #expect(try document.recentStates(obj: text, limit: 100, maximumHeads: 10).count == 1, "never none")
    var count = 0, before: Set<ChangeHash>?
    while let part = try document.bursts(obj: text, before: before, limit: 100, maximumHeads: 1000), !part.isEmpty {
      count += part.count
      before = part[0].heads
    }
    #expect(count == 200, "all of it, page by page")
  }

  /// A peer can make any number of changes, of any shape; what editors ask for at every move of the caret reads some of them.
  @Test func recentStatesAreLookedForAmongTheLastChangesOnly() throws {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let fork = document.fork()
    try fork.rename("0b")
    func type(_ count: Int, at seconds: Double) throws {
      for _ in 0..<count {
        try document.spliceText(obj: text, start: 0, delete: 0, value: "x")
        document.commitWith(timestamp: time(seconds))
      }
    }
    for burst in 1...3 { try type(1, at: Double(burst) * 1000) }
    // Far more than is looked at, without a pause.
    try type(300, at: 4000)
    #expect(try document.bursts(obj: text).count == 4)
    #expect(try document.recentStates(obj: text, limit: 6, effort: 500).count == 1)
    #expect(try document.recentStates(obj: text, limit: 6, effort: 1000).count == 4, "the control")
    // A change beside all these: what its state was before takes looking through them.
    try fork.spliceText(obj: text, start: 0, delete: 0, value: "y")
    fork.commitWith(timestamp: time(5000))
    try document.merge(other: fork)
    #expect(try document.recentStates(obj: text, limit: 6, effort: 200).map(\.heads) == [document.heads()])
    let all = try document.bursts(obj: text).reversed()
    #expect(try document.recentStates(obj: text, limit: 6, effort: 2000).map(\.heads) == all.map(\.heads))
    // One change of more pieces than are looked at.
    for place in 0..<250 { try document.spliceText(obj: text, start: UInt64(place) * 2, delete: 0, value: "z") }
    document.commitWith(timestamp: time(9000))
    #expect(try document.recentStates(obj: text, limit: 6, effort: 200).isEmpty)
  }

  @Test func whatIsNoTextHasNoBursts() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    #expect(try document.bursts(obj: text).isEmpty)
    #expect(throws: DocError.self) { try document.bursts(obj: .ROOT) }
  }
}
