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

  @Test func whatIsNoTextHasNoBursts() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    #expect(try document.bursts(obj: text).isEmpty)
    #expect(throws: DocError.self) { try document.bursts(obj: .ROOT) }
  }
}
