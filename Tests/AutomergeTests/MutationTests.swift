import Foundation
import TestSupport
import Testing

@testable import Automerge

/// The fuzzers' first inputs, changed at random: a short run of what `make fuzz` does at length.
struct MutationTests {
  private static let corpus = Vectors.packageRoot.appending(path: "Tests/Fuzz/Corpus")

  private static func inputs(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
    let folder = corpus.appending(path: name)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { file in
      (file, Array(try Data(contentsOf: folder.appending(path: file))))
    }
  }

  /// Bytes changed, taken out, put in, or doubled.
  private func mutated(_ input: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = input
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      guard !bytes.isEmpty else { return [0] }
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, place + Int.random(in: 1...4, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: bytes[place] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
      case 2: bytes[place] = bytes[place] &+ (Bool.random(using: &random) ? 1 : 0xff)
      case 3: bytes.removeSubrange(place..<end)
      case 4: bytes.insert(contentsOf: [0xff, 0xff, 0xff, 0xff, 0x0f].prefix(end - place), at: place)
      default: bytes.insert(contentsOf: bytes[place..<end], at: place)
      }
    }
    return bytes
  }

  /// The chunks of a file with their bodies changed and sealed again; sometimes the bytes as they are.
  private func mutatedFile(_ input: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var reader = ChunkReader(input), output: [UInt8] = []
    guard Int.random(in: 0..<5, using: &random) > 0 else { return mutated(input, &random) }
    while let next = reader.next() {
      guard case .success(let chunk) = next else { continue }
      let body = Bool.random(using: &random) ? mutated(Array(chunk.body), &random) : Array(chunk.body)
      output += Chunk.encode(chunk.kind, body: body).bytes
    }
    return output
  }

  private func check(_ document: Document, _ note: Comment) throws {
    #expect(document.brokenInvariant() == nil, note)
    let saved = document.save(), again = try Document(saved)
    #expect(again.heads() == document.heads(), note)
    #expect(again.save() == saved, note)
  }

  @Test(arguments: SeedCount.part(of: 1...4 as ClosedRange<UInt64>))
  func damagedFilesAreRefusedOrSaveAndLoadAgain(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for (name, bytes) in try Self.inputs("Load") {
      for _ in 0..<8 {
        do { try check(Document(Data(mutatedFile(bytes, &random))), "seed \(seed), \(name)") } catch is LoadError {}
      }
    }
  }

  @Test(arguments: SeedCount.part(of: 1...4 as ClosedRange<UInt64>))
  func damagedChangesDoADocumentNoHarm(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for (name, bytes) in try Self.inputs("Apply") {
      for _ in 0..<8 {
        let document = Document()
        // A part of the real thing first, so that there is something to harm.
        var reader = ChunkReader(bytes), chunks: [Chunk] = []
        while let next = reader.next() { if case .success(let chunk) = next { chunks.append(chunk) } }
        for chunk in chunks.prefix(Int.random(in: 0...chunks.count, using: &random)) {
          try? document.applyEncodedChanges(encoded: Data(Chunk.encode(chunk.kind, body: Array(chunk.body)).bytes))
        }
        do {
          try document.applyEncodedChanges(encoded: Data(mutatedFile(bytes, &random)))
        } catch is LoadError {}
        try check(document, "seed \(seed), \(name)")
      }
    }
  }

  @Test(arguments: SeedCount.part(of: 1...4 as ClosedRange<UInt64>))
  func damagedMessagesEndNoConversation(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for (name, bytes) in try Self.inputs("Sync") {
      let document = try Document(actor: "aa"), state = SyncState()
      try document.put(obj: .ROOT, key: "k", value: .Int(1))
      for _ in 0..<12 {
        do {
          try document.receiveSyncMessage(state: state, message: Data(mutated(bytes, &random)))
        } catch is ReceiveSyncError {}
        var answers = 0
        while document.generateSyncMessage(state: state) != nil { answers += 1 }
        #expect(answers < 4, "seed \(seed), \(name)")
      }
      try check(document, "seed \(seed), \(name)")
    }
  }
}
