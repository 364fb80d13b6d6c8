import Automerge
import Foundation
import Testing

@testable import AutomergeRepo

@Suite struct StorageScheduleTests {
  @Test func changesAreGatheredThenWritten() {
    var schedule = StorageSchedule()
    #expect(schedule.receive(.changed) == [.startTimer(.milliseconds(50))])
    #expect(schedule.receive(.changed) == [])
    #expect(schedule.receive(.timerFired) == [.cancelTimer, .write])
    #expect(schedule.receive(.changed) == [])
    #expect(schedule.receive(.saved) == [.startTimer(.milliseconds(50))])
    #expect(schedule.receive(.flushRequested) == [.cancelTimer, .write])
    #expect(schedule.receive(.saved) == [])
    #expect(schedule.receive(.flushRequested) == [])
  }

  @Test func failuresAreTriedAgainEverySecond() {
    var schedule = StorageSchedule()
    _ = schedule.receive(.changed)
    _ = schedule.receive(.timerFired)
    for _ in 0..<7 {
      #expect(schedule.receive(.failed) == [.startTimer(.seconds(1))])
      #expect(schedule.receive(.changed) == [])
      #expect(schedule.receive(.timerFired) == [.cancelTimer, .write])
    }
    #expect(schedule.receive(.saved) == [])
    _ = schedule.receive(.changed)
    _ = schedule.receive(.timerFired)
    #expect(schedule.receive(.failed) == [.startTimer(.seconds(1))])
    #expect(schedule.receive(.flushRequested) == [.cancelTimer, .write])
  }
}

@Suite struct EphemeralGateTests {
  private func message(_ sender: String, _ session: String, _ count: UInt64, bytes: Int = 1) throws
    -> RepoMessage.EphemeralMessage
  {
    let document = try #require(DocumentId(bytes: Array(1...16)))
    return .init(
      senderId: PeerId(sender), targetId: PeerId("me"), documentId: document, count: count, sessionId: session,
      data: Data(count: bytes))
  }

  private let link = PeerId("link")

  @Test func eachIsLetThroughOnce() throws {
    var gate = EphemeralGate()
    func accepts(_ sender: String, _ session: String, _ count: UInt64, via link: String = "link") throws -> Bool {
      gate.accepts(try message(sender, session, count), via: PeerId(link), at: .zero)
    }
    #expect(try accepts("a", "s", 1))
    #expect(try !accepts("a", "s", 1))
    #expect(try accepts("a", "s", 5))
    #expect(try !accepts("a", "s", 4))
    #expect(try accepts("a", "t", 1))
    #expect(try accepts("b", "s", 1))
    // The same over another link, and what came there alone.
    #expect(try !accepts("a", "s", 5, via: "other"))
    #expect(try accepts("a", "s", 6, via: "other"))
    #expect(try !accepts("a", "s", 6))
    #expect(try accepts("a", "s", 7))
  }

  @Test func aLeapSilencesNobody() throws {
    var gate = EphemeralGate()
    func accepts(_ count: UInt64, via link: String = "link") throws -> Bool {
      gate.accepts(try message("a", "s", count), via: PeerId(link), at: .zero)
    }
    #expect(try accepts(7))
    #expect(try !accepts(.max), "a leap")
    #expect(try accepts(8))
    // The first of a link may be anything; what comes over others is heard all the same.
    #expect(try accepts(.max, via: "forger"))
    #expect(try accepts(9))
    // An author that was silent for long, or that a relay skipped because it believed a forger, is heard with the
    // second message.
    #expect(try !accepts(1_000_000))
    #expect(try accepts(1_000_001))
    #expect(try !accepts(10))
    #expect(try accepts(11))
  }

  @Test func whatIsTooLargeIsNot() throws {
    var gate = EphemeralGate()
    #expect(gate.accepts(try message("a", "s", 1, bytes: 64 << 10), via: link, at: .zero))
    #expect(!gate.accepts(try message("a", "s", 2, bytes: 64 << 10 + 1), via: link, at: .zero))
    #expect(!gate.accepts(try message("a", String(repeating: "s", count: 300), 1), via: link, at: .zero))
  }

  @Test func aFloodOfSessionsCostsNoMemory() throws {
    var gate = EphemeralGate()
    for number in 0..<20_000 {
      let now = Duration.milliseconds(number * 2)
      #expect(gate.accepts(try message("a", "\(number)", 1), via: link, at: now))
    }
    #expect(gate.streamCount <= 4 * EphemeralGate.maximumStreams)
    #expect(!gate.accepts(try message("a", "19999", 1), via: link, at: .seconds(50)))
  }

  @Test func aFloodOverOneLinkIsCutAndTheOthersAreHeard() throws {
    var gate = EphemeralGate()
    var heard = 0
    for count in 1...5000 where gate.accepts(try message("a", "s", UInt64(count)), via: link, at: .zero) { heard += 1 }
    #expect(heard == EphemeralGate.maximumAtOnce)
    #expect(gate.accepts(try message("b", "s", 1), via: PeerId("other"), at: .zero))
    #expect(gate.accepts(try message("a", "s", 5001), via: link, at: .seconds(1)))
  }
}

@Suite struct SyncHeaderTests {
  @Test func theSizesAreRead() throws {
    let hash = [UInt8](repeating: 7, count: 32)
    var bytes: [UInt8] = [0x42, 1] + hash
    bytes += [2] + hash + hash
    bytes += [1, 1] + hash + [3, 9, 9, 9]
    bytes += [2, 1, 0, 1, 0]
    let header = try #require(SyncHeader(Data(bytes)))
    #expect(header.heads.count == 1)
    #expect(header.needCount == 2)
    #expect(header.changeCount == 2)
    for count in 0..<bytes.count - 4 { #expect(SyncHeader(Data(bytes.prefix(count))) == nil) }
  }

  @Test func liesAreNoHeader() {
    for bytes: [UInt8] in [
      [], [0x41, 0, 0, 0, 0], [0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], [0x42, 1, 2, 3],
      [0x42, 0, 0, 200, 1], [0x42, 0, 0, 1, 0, 100, 0], [UInt8](repeating: 0xff, count: 64),
    ] { #expect(SyncHeader(Data(bytes)) == nil) }
  }
}
