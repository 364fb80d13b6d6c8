import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// A document with many peers: sending everything to all of them takes several turns.
struct TurnsTests {
  private let document: Document
  private var sync = DocumentSync(phase: .ready)
  private var random = SeededGenerator(seed: 21)
  private var peers: [PeerId: (document: Document, state: SyncState)] = [:]

  init() throws {
    document = try .note("start")
    for number in 0..<14 {
      let peer = PeerId("guest\(number)")
      peers[peer] = (Document(), SyncState())
      var effects = sync.receive(.connected(peer, access: .write), document: document)
      for _ in 0..<8 {
        let answers = try deliver(effects)
        effects = answers.flatMap { sync.takeIn($0, document: document) }
      }
    }
    #expect(peers.values.allSatisfy { $0.document.heads() == document.heads() })
  }

  /// Hands messages over. Returns what is answered.
  private func deliver(_ effects: [DocumentSync.Effect]) throws -> [DocumentSync.Event] {
    var answers: [DocumentSync.Event] = []
    for case .send(.sync(let data), let peer) in effects {
      guard let guest = peers[peer] else { continue }
      try guest.document.receiveSyncMessage(state: guest.state, message: data)
      if let data = guest.document.generateSyncMessage(state: guest.state) {
        answers.append(.received(.sync(data), from: peer, access: .write))
      }
    }
    return answers
  }

  private func told(_ effects: [DocumentSync.Effect]) -> [PeerId] {
    effects.compactMap { if case .send(_, let peer) = $0 { peer } else { nil } }
  }

  private func goesOnLater(_ effects: [DocumentSync.Effect]) -> Bool {
    effects.contains { if case .later = $0 { true } else { false } }
  }

  /// Letters that do not get shorter by deflating.
  private mutating func paste(_ byteCount: Int) throws {
    guard let text = try document.contentId() else { return }
    let letters = (0..<byteCount).map { _ in UInt8.random(in: 0x20...0x7E, using: &random) }
    try document.spliceText(obj: text, start: 0, delete: 0, value: String(decoding: letters, as: UTF8.self))
    document.commitWith()
  }

  @Test mutating func aLargeChangeIsToldToAFewAtATimeAndInTheEndToAll() throws {
    try paste(200 << 10)
    var effects = sync.receive(.changed, document: document)
    var all = told(effects)
    #expect(goesOnLater(effects))
    while goesOnLater(effects) {
      #expect(effects.reduce(0) { $0 + $1.byteCount } < DocumentSync.byteCountOfTurn + (256 << 10))
      effects = sync.receive(.turned, document: document)
      all += told(effects)
    }
    #expect(all.count == 14 && Set(all) == Set(peers.keys), "\(all)")
    #expect(told(sync.receive(.turned, document: document)).isEmpty)
  }

  @Test mutating func peersThatHaveWaitedAreToldFirst() throws {
    try paste(200 << 10)
    var effects = sync.receive(.changed, document: document)
    let first = told(effects)
    #expect(goesOnLater(effects) && first.count < 7)
    // A new change, and answers of the peers that were told: the others have waited longer.
    for answer in try deliver(effects) { _ = sync.receive(answer, document: document) }
    try paste(200 << 10)
    effects = sync.receive(.changed, document: document)
    #expect(!told(effects).isEmpty && Set(told(effects)).isDisjoint(with: first))
  }

  @Test mutating func aKeystrokeIsToldToAllAtOnce() throws {
    try paste(6)
    let effects = sync.receive(.changed, document: document)
    #expect(told(effects).count == 14 && !goesOnLater(effects))
  }

  @Test mutating func peersThatLeaveOrLackTheDocumentAreNotTold() throws {
    try paste(400 << 10)
    let first = told(sync.receive(.changed, document: document))
    let (gone, lacking) = (PeerId("guest12"), PeerId("guest13"))
    _ = sync.receive(.disconnected(gone), document: document)
    _ = sync.receive(.received(.unavailable, from: lacking, access: .write), document: document)
    var (rest, goesOn): ([PeerId], Bool) = ([], true)
    while goesOn {
      let effects = sync.receive(.turned, document: document)
      goesOn = goesOnLater(effects)
      rest += told(effects)
    }
    #expect(Set(first + rest) == Set(peers.keys).subtracting([gone, lacking]))
  }
}
