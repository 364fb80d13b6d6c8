import Foundation
import TestSupport
import Testing

@testable import Automerge

/// The edits that made the vectors, done again: the same edits give the same changes.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct VectorsScriptTests {}

extension VectorsScriptTests {
  @Test(arguments: Vectors.documentNames())
  func scriptsGiveTheSameHashes(name: String) throws {
    let vector = try Vectors.load(name)
    var player = ScriptPlayer()
    for (index, step) in vector.json["script"].items.enumerated() {
      let result = try player.play(step)
      if step["op"].string != "merge" { #expect(result == step["ret"].string, "step \(index): \(step)") }
    }
    let expected = vector.json["heads"].strings
    let finished = player.documents.values.filter { $0.headNames == expected }
    #expect(!finished.isEmpty)
    let saved = try require(vector.json["save_uncompressed"].hex)
    #expect(finished.contains { $0.saveUncompressed() == saved })
    for document in player.documents.values { #expect(document.brokenInvariant() == nil) }
    // To a dictionary of Swift, canonically equivalent keys are one.
    guard !name.hasPrefix("mapkeys") else { return }
    let value = vector.json["value"].withBitsOnly
    for document in finished { #expect(document.typedValue() == value) }
  }
}
