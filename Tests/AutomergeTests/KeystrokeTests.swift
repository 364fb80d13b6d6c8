import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Keystrokes that are buffered until the document is read have the same result as one by one.
struct KeystrokeTests {
  /// The same edits to two documents; of the second one the text is read after each of them, so nothing is kept there.
  private struct Pair {
    let kept: Document
    let read: Document
    let text: ObjId
    private let encoding: TextEncoding

    init(_ encoding: TextEncoding) throws {
      self.encoding = encoding
      kept = Document(textEncoding: encoding)
      read = Document(textEncoding: encoding)
      let actor = try #require(ActorId(data: Data([7])))
      (kept.actor, read.actor) = (actor, actor)
      text = try kept.putObject(obj: .ROOT, key: "content", ty: .Text)
      #expect(try read.putObject(obj: .ROOT, key: "content", ty: .Text) == text)
    }

    func each(_ edit: (Document) throws -> Void) throws {
      try edit(kept)
      try edit(read)
      _ = try read.text(obj: text)
    }

    var length: Int {
      get throws {
        let measure = try read.textMeasure(obj: text)
        return switch encoding {
        case .utf8: measure.utf8
        case .utf16: measure.utf16
        case .unicodeScalar, .graphemeCluster: measure.scalars
        }
      }
    }

    func check(_ note: Comment) throws {
      #expect(kept.heads() == read.heads(), note)
      #expect(try kept.text(obj: text) == read.text(obj: text), note)
      #expect(kept.save() == read.save(), note)
      #expect(kept.brokenInvariant() == nil, note)
      let loaded = try Document(kept.save(), textEncoding: encoding)
      #expect(loaded.heads() == kept.heads(), note)
    }
  }

  /// Kept until the end, read after each keystroke, received change by change, or loaded: the log is as long as what was done in
  /// one go.
  @Test(arguments: [TextEncoding.unicodeScalar, .utf8])
  func typingIsOneActHoweverItCame(encoding: TextEncoding) throws {
    let pair = try Pair(encoding), received = Document()
    for place in 0..<300 {
      try pair.each {
        try $0.spliceText(obj: pair.text, start: UInt64(place), delete: 0, value: "x")
        $0.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      }
      try received.applyEncodedChanges(encoded: pair.read.encodeNewChanges())
    }
    for place in (200..<300).reversed() {
      try pair.each {
        try $0.spliceText(obj: pair.text, start: UInt64(place), delete: 1)
        $0.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      }
      try received.applyEncodedChanges(encoded: pair.read.encodeNewChanges())
    }
    try pair.check("one act")
    for document in [pair.kept, pair.read, received, try Document(pair.kept.save())] {
      // The text object, the letters, and the letters that went.
      #expect(document.withCore { $0.log.runCount } == 3)
    }
    #expect(received.heads() == pair.read.heads())
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func bothWaysMakeTheSameChanges(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let encodings: [TextEncoding] = [.unicodeScalar, .utf8, .utf16]
    let pair = try Pair(encodings[Int(seed % 3)])
    var place = 0, second = 0
    for _ in 0..<60 {
      let isEach = Bool.random(using: &random), length = try pair.length
      if Int.random(in: 0..<3, using: &random) == 0 { place = Int.random(in: 0...length, using: &random) }
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        for _ in 0..<Int.random(in: 1...30, using: &random) {
          let typed = ["a", "b", "\n", "xyz"].randomElement(using: &random) ?? "a"
          try pair.each { try $0.spliceText(obj: pair.text, start: UInt64(place), delete: 0, value: typed) }
          place += typed.utf8.count
          if isEach { try commit(pair, second) }
        }
      case 2:
        for _ in 0..<min(place, Int.random(in: 1...30, using: &random)) {
          place -= 1
          try pair.each { try $0.spliceText(obj: pair.text, start: UInt64(place), delete: 1) }
          if isEach { try commit(pair, second) }
        }
      case 3:
        for _ in 0..<Int.random(in: 1...30, using: &random) {
          try pair.each { try $0.spliceText(obj: pair.text, start: UInt64(place), delete: 1) }
          if isEach { try commit(pair, second) }
        }
      default:
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where seed > 6: try pair.each { try $0.spliceText(obj: pair.text, start: 0, delete: 0, value: "é😀") }
        case 1: second += 1
        case 2: try pair.each { $0.commitWith(message: "said", timestamp: Date(timeIntervalSince1970: 3)) }
        case 3 where seed > 9 && length > 4:
          try pair.each {
            try $0.mark(
              obj: pair.text, start: 1, end: 3, expand: .both, name: "bold", value: .Boolean(true))
          }
        default: #expect(try pair.kept.text(obj: pair.text) == pair.read.text(obj: pair.text), "seed \(seed)")
        }
      }
      place = min(place, try pair.length)
      if Int.random(in: 0..<4, using: &random) == 0 { try commit(pair, second) }
    }
    try pair.each { $0.commitWith(timestamp: Date(timeIntervalSince1970: 9)) }
    try pair.check("seed \(seed)")
  }

  private func commit(_ pair: Pair, _ second: Int) throws {
    try pair.each { $0.commitWith(timestamp: Date(timeIntervalSince1970: Double(second))) }
  }

  @Test func aLongRunIsAppliedPieceByPiece() throws {
    let document = Document(), text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    let count = 2 * Keystrokes.limit + 100
    for place in 0..<count {
      try document.spliceText(obj: text, start: UInt64(place), delete: 0, value: "k")
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    #expect(try document.text(obj: text) == String(repeating: "k", count: count))
    #expect(document.getHistory().count == count)
    for place in (0..<count).reversed() {
      try document.spliceText(obj: text, start: UInt64(place), delete: 1)
      document.commitWith(timestamp: Date(timeIntervalSince1970: 1))
    }
    #expect(try document.text(obj: text) == "")
    #expect(document.getHistory().count == 2 * count)
    #expect(document.brokenInvariant() == nil)
    #expect(try Document(document.save()).heads() == document.heads())
  }

  @Test func followersOfADocumentHearOfEveryKeystroke() async throws {
    let document = Document(), text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "a")
    var updates = document.updates().makeAsyncIterator()
    for place in 1..<20 {
      try document.spliceText(obj: text, start: UInt64(place), delete: 0, value: "b")
      await updates.next()
      #expect(try document.text(obj: text).count == place + 1)
    }
  }

  @Test func anUndoTakesBackWhatWasTypedLast() throws {
    let document = Document(), text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    for place in 0..<10 {
      try document.spliceText(obj: text, start: UInt64(place), delete: 0, value: "u")
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    try document.undo()
    #expect(try document.text(obj: text) == String(repeating: "u", count: 9))
  }
}
