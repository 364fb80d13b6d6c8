import ArgumentParser
import Automerge
import Foundation
import TestSupport

/// What other libraries are slow at: many writers at one place, and long branches written apart.
struct HardCases: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hard", abstract: "Many inserts at one place by 2, 10 and 10,000 peers; two long branches merged.")

  @Option(help: "How many characters are inserted at one place.")
  var inserts = 10_000

  @Option(help: "How many edits each of the two branches has.")
  var edits = 50_000

  @OptionGroup var options: MeasureOptions

  func run() throws { _ = try measureAll() }

  func measureAll() throws -> [Measure] {
    let set = MeasureSet(trace: "-", options)
    for peers in [2, 10, inserts] {
      for isForward in [true, false] where isForward || peers < inserts {
        try samePlace(set, peers: peers, isForward: isForward)
      }
    }
    try offline(set)
    return set.measures
  }

  /// - Parameter isForward: each peer types a run at the place; else it inserts always at the same offset, so that its
  ///   text comes out reversed.
  private func samePlace(_ set: MeasureSet, peers: Int, isForward: Bool) throws {
    let name = "same_place_\(peers)_peers_\(isForward ? "forward" : "backward")"
    guard set.wants(name) else { return }
    let line = String(repeating: "the quick brown fox jumps over the lazy dog. ", count: 3)
    let base = try Self.document(holding: line), middle = line.utf8.count / 2, each = inserts / peers
    var updates: [Data] = []
    for peer in 0..<peers {
      let document = try WrittenText(loading: base)
      let letter = String(UnicodeScalar(UInt8(97 + peer % 26)))
      for place in 0..<each {
        let start = UInt64(isForward ? middle + place : middle)
        try document.document.spliceText(obj: document.text, start: start, delete: 0, value: letter)
        document.document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      }
      updates.append(document.document.encodeNewChanges())
    }
    var random = SeededGenerator(seed: 5)
    updates.shuffle(using: &random)
    var text: String?
    let check = { (document: Document) in
      let result = try document.text(obj: WrittenText(document: document).text)
      guard result.utf8.count == line.utf8.count + peers * each, text == nil || text == result else {
        throw TraceError.otherText(name)
      }
      text = result
    }
    try set.time(
      name + "_each", setUp: { try Document(base) },
      { document in
        for update in updates { _ = try document.applyEncodedChangesWithTextEdits(encoded: update) }
        return document
      }, check: check)
    let all = Data(updates.joined())
    try set.time(
      name + "_batch", setUp: { try Document(base) },
      { document in
        try document.applyEncodedChanges(encoded: all)
        return document
      }, check: check)
  }

  private func offline(_ set: MeasureSet) throws {
    let name = "merge_offline_\(edits / 1000)k"
    guard set.wants(name) else { return }
    var random = SeededGenerator(seed: 1)
    let letters = Array("abcdefghijklmnopqrstuvwxyz \n")
    let base = try Self.document(
      holding: String((0..<20_000).map { _ in letters.randomElement(using: &random) ?? "a" }))
    let branches = try [11, 12].map { seed in try branch(on: base, seed: seed) }
    var text: String?
    try set.time(
      name,
      setUp: {
        let document = try Document(base)
        try document.applyEncodedChanges(encoded: branches[0])
        return document
      },
      { (document: Document) in
        try document.applyEncodedChanges(encoded: branches[1])
        return document
      },
      check: { document in
        let result = try document.text(obj: WrittenText(document: document).text)
        guard text == nil || text == result else { throw TraceError.otherText(name) }
        text = result
      })
  }

  /// One transaction of single-character edits at random places, 70 % of them insertions.
  private func branch(on base: Data, seed: UInt64) throws -> Data {
    let written = try WrittenText(loading: base)
    var random = SeededGenerator(seed: seed)
    var count = try written.document.textMeasure(obj: written.text).scalars
    for _ in 0..<edits {
      let place = UInt64(Int.random(in: 0..<count, using: &random))
      if Int.random(in: 0..<10, using: &random) < 7 {
        let letter = String(UnicodeScalar(UInt8.random(in: 97...122, using: &random)))
        try written.document.spliceText(obj: written.text, start: place, delete: 0, value: letter)
        count += 1
      } else {
        try written.document.spliceText(obj: written.text, start: place, delete: 1)
        count -= 1
      }
    }
    written.document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    return written.document.encodeNewChanges()
  }

  private static func document(holding text: String) throws -> Data {
    let written = try WrittenText()
    try written.document.spliceText(obj: written.text, start: 0, delete: 0, value: text)
    written.document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    return written.document.save()
  }
}
