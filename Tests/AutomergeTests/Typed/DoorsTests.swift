import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Whatever is changed, in whichever way, on whichever replica, reaches all others.
struct DoorsTests {
  private static let seedsEach = 50

  @Test(arguments: 0..<SeedCount.of(6))
  func whatGoesInByOneDoorIsReadByAllOthersAndNothingIsLost(part: Int) throws {
    for seed in part * Self.seedsEach..<(part + 1) * Self.seedsEach { try run(seed: UInt64(seed)) }
  }

  private func run(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed), ledger = Doors.Ledger()
    // One owns its document, one is a view of a document passed in, and one is a fork.
    var replicas = [try Doors(TypedDocument(Doors.Model()))]
    replicas.append(try Doors(TypedDocument(document: replicas[0].document.fork())))
    replicas.append(try Doors(replicas[0].typed.fork()))
    for step in 0..<16 {
      let place = Int.random(in: replicas.indices, using: &random)
      if Int.random(in: 0..<4, using: &random) == 0 {
        let other = Int.random(in: replicas.indices, using: &random)
        try exchange(&replicas, place, other, &random)
      } else {
        try replicas[place].act(&ledger, &random)
      }
      if step % 8 == 0 { try expectAgreement(replicas[place], "seed \(seed), step \(step)") }
    }
    for _ in 0..<2 {
      for place in replicas.indices {
        for other in replicas.indices where other != place { try replicas[place].typed.merge(replicas[other].typed) }
      }
    }
    for replica in replicas {
      let missing = try replica.missing(of: ledger)
      #expect(missing.isEmpty, "seed \(seed): \(missing)")
      try expectAgreement(replica, "seed \(seed), end")
      #expect(replica.document.heads() == replicas[0].document.heads(), "seed \(seed)")
      #expect(replica.document.brokenInvariant() == nil, "seed \(seed)")
    }
  }

  private func exchange(
    _ replicas: inout [Doors], _ place: Int, _ other: Int, _ random: inout SeededGenerator
  ) throws {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try replicas[place].typed.merge(replicas[other].typed)
    case 1: try replicas[place].typed.apply(changes: replicas[other].typed.changes(between: replicas[place].typed))
    case 2: try replicas[place] = Doors(TypedDocument(replicas[place].typed.save()))
    default:
      let one = replicas[place].document, two = replicas[other].document, state = SyncState(), otherState = SyncState()
      guard one !== two else { return }
      var isQuiet = false
      while !isQuiet {
        isQuiet = true
        if let message = one.generateSyncMessage(state: state) {
          try two.receiveSyncMessage(state: otherState, message: message)
          isQuiet = false
        }
        if let message = two.generateSyncMessage(state: otherState) {
          try one.receiveSyncMessage(state: state, message: message)
          isQuiet = false
        }
      }
    }
  }

  private func expectAgreement(_ replica: Doors, _ place: String) throws {
    let readings = try replica.readings()
    guard let first = readings["hydrated"] else { return }
    for (door, reading) in readings { #expect(reading == first, "\(place): \(door)") }
  }
}
