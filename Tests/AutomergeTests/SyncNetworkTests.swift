import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Some replicas, a connection between any two of them, and everything that can happen to both.
private struct Network {
  fileprivate struct Replica {
    var document: Document
    /// What was last written to disk, with what was known of the peers then.
    var saved = Data()
    var savedStates: [Int: Data] = [:]
    var states: [Int: SyncState] = [:]
  }

  private var replicas: [Replica] = []
  /// Messages on their way, by sender and receiver.
  private var inTransit: [[Int]: [Data]] = [:]
  private let text: ObjId
  private(set) var messageCount = 0

  init(_ count: Int, _ random: inout SeededGenerator) throws {
    let first = Document()
    first.actor = Self.actor(&random)
    text = try first.putObject(obj: .ROOT, key: "text", ty: .Text)
    first.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    for index in 0..<count {
      let document = index == 0 ? first : Document()
      document.actor = Self.actor(&random)
      replicas.append(Replica(document: document))
      for peer in 0..<count where peer != index { replicas[index].states[peer] = SyncState() }
    }
  }

  private static func actor(_ random: inout SeededGenerator) -> ActorId {
    ActorId(bytes: (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  mutating func step(_ random: inout SeededGenerator) throws {
    let here = Int.random(in: 0..<replicas.count, using: &random)
    let there = (here + Int.random(in: 1..<replicas.count, using: &random)) % replicas.count
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<12: try edit(here, &random)
    case 12..<24: try send(from: here, to: there)
    case 24..<34: try deliver(from: here, to: there, twice: Int.random(in: 0..<8, using: &random) == 0)
    case 34..<36: replicas[here].saveNow()
    case 36..<38: try disconnect(here, there)
    case 38: try restart(here, &random)
    default: try loseEverything(here, &random)
    }
  }

  private mutating func edit(_ index: Int, _ random: inout SeededGenerator) throws {
    let document = replicas[index].document
    // A replica without text waits for the text to arrive.
    guard !document.heads().isEmpty else { return }
    let length = document.length(obj: text)
    let start = UInt64.random(in: 0...length, using: &random)
    try document.spliceText(
      obj: text, start: start, delete: Int64.random(in: 0...min(3, Int64(length - start)), using: &random),
      value: ["a", "bc", "é", "😀"].randomElement(using: &random))
    if Bool.random(using: &random) { document.commitWith(timestamp: Date(timeIntervalSince1970: 0)) }
  }

  private mutating func send(from sender: Int, to receiver: Int) throws {
    guard let state = replicas[sender].states[receiver],
      let message = replicas[sender].document.generateSyncMessage(state: state)
    else { return }
    inTransit[[sender, receiver], default: []].append(message)
    messageCount += 1
  }

  private mutating func deliver(from sender: Int, to receiver: Int, twice: Bool) throws {
    guard let state = replicas[receiver].states[sender], var waiting = inTransit[[sender, receiver]],
      !waiting.isEmpty
    else { return }
    let message = waiting.removeFirst()
    inTransit[[sender, receiver]] = waiting
    for _ in 0..<(twice ? 2 : 1) { try replicas[receiver].document.receiveSyncMessage(state: state, message: message) }
  }

  /// What was on its way is lost; both go on from what is worth keeping.
  private mutating func disconnect(_ a: Int, _ b: Int) throws {
    for (here, there) in [(a, b), (b, a)] {
      inTransit[[here, there]] = nil
      replicas[here].states[there] = try SyncState(bytes: (replicas[here].states[there] ?? SyncState()).encode())
    }
  }

  private mutating func disconnect(_ index: Int) throws {
    for peer in replicas.indices where peer != index { try disconnect(index, peer) }
  }

  /// Back to what is on disk: newer changes are gone, though peers may have them.
  private mutating func restart(_ index: Int, _ random: inout SeededGenerator) throws {
    try disconnect(index)
    let saved = replicas[index].saved
    replicas[index].document = saved.isEmpty ? Document() : try Document(saved)
    replicas[index].document.actor = Self.actor(&random)
    for peer in replicas.indices where peer != index {
      replicas[index].states[peer] =
        try replicas[index].savedStates[peer].map { try SyncState(bytes: $0) } ?? SyncState()
    }
  }

  /// A new disk: no document, and nothing known of any peer. The others still believe to share things with it.
  private mutating func loseEverything(_ index: Int, _ random: inout SeededGenerator) throws {
    try disconnect(index)
    replicas[index].document = Document()
    replicas[index].document.actor = Self.actor(&random)
    (replicas[index].saved, replicas[index].savedStates) = (Data(), [:])
    for peer in replicas.indices where peer != index { replicas[index].states[peer] = SyncState() }
  }

  /// Connects all replicas again and lets them exchange messages until none has anything to send.
  mutating func settle() throws -> Bool {
    for index in replicas.indices { try disconnect(index) }
    for _ in 0..<60 {
      let before = messageCount
      for sender in replicas.indices {
        for receiver in replicas.indices where receiver != sender {
          try send(from: sender, to: receiver)
          try deliver(from: sender, to: receiver, twice: false)
        }
      }
      if messageCount == before { return true }
    }
    return false
  }

  func check(_ note: Comment) throws {
    let heads = replicas[0].document.heads(), dump = replicas[0].document.dump(includingChanges: false).text()
    for replica in replicas {
      #expect(replica.document.heads() == heads, note)
      #expect(replica.document.dump(includingChanges: false).text() == dump, note)
      #expect(replica.document.brokenInvariant() == nil, note)
      #expect(try Document(replica.document.save()).heads() == heads, note)
    }
  }
}

extension Network.Replica {
  fileprivate mutating func saveNow() {
    saved = document.save()
    savedStates = states.mapValues { $0.encode() }
  }
}

struct SyncNetworkTests {
  @Test(arguments: 0..<24 as Range<UInt64>)
  func replicasBecomeEqualWhateverHappensToThemAndTheirMessages(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var network = try Network(2 + Int(seed % 3), &random)
    for _ in 0..<3 {
      for _ in 0..<100 { try network.step(&random) }
      #expect(try network.settle(), "seed \(seed): there is always something to say")
      try network.check("seed \(seed)")
    }
  }

  @Test func aPeerThatLostEverythingHasItBackSoon() throws {
    let document = try Document(actor: "aa"), state = SyncState()
    for number in 0..<50 {
      try document.put(obj: .ROOT, key: "k", value: .Int(Int64(number)))
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    var other = Document(), otherState = SyncState()
    func talk() throws -> Int {
      for round in 1...20 {
        let message = document.generateSyncMessage(state: state)
        if let message { try other.receiveSyncMessage(state: otherState, message: message) }
        let answer = other.generateSyncMessage(state: otherState)
        if let answer { try document.receiveSyncMessage(state: state, message: answer) }
        if message == nil, answer == nil { return round }
      }
      return .max
    }
    #expect(try talk() < 6)
    #expect(other.heads() == document.heads())
    // Everything is gone over there, which is not noticed here: not even a new connection.
    (other, otherState) = (Document(), SyncState())
    #expect(try talk() < 8)
    #expect(other.heads() == document.heads())
  }
}
