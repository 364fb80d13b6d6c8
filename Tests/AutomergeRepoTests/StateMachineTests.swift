import Automerge
import Foundation
import Testing

@testable import AutomergeRepo

struct StorageScheduleTests {
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

struct EphemeralGateTests {
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

  @Test func aLeapSilencesNoPeer() throws {
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
      #expect(gate.accepts(try message("link", "\(number)", 1), via: link, at: now))
    }
    #expect(gate.streamCount <= 4 * EphemeralGate.maximumStreams)
    #expect(!gate.accepts(try message("link", "19999", 1), via: link, at: .seconds(50)))
  }

  @Test func noMoreDoLinksThatComeWithoutEnd() throws {
    var gate = EphemeralGate()
    for number in 0..<5_000 {
      let stranger = "\(number)"
      #expect(gate.accepts(try message(stranger, "s", 1), via: PeerId(stranger), at: .zero))
      gate.forget(PeerId(stranger))
    }
    #expect(gate.streamCount <= 4 * EphemeralGate.maximumStreams)
  }

  @Test func aFloodOverOneLinkIsCutAndTheOthersAreHeard() throws {
    var gate = EphemeralGate()
    var heard = 0
    for count in 1...5000 where gate.accepts(try message("link", "s", UInt64(count)), via: link, at: .zero) {
      heard += 1
    }
    #expect(heard == EphemeralGate.maximumAtOnce)
    #expect(gate.accepts(try message("b", "s", 1), via: PeerId("other"), at: .zero))
    #expect(gate.accepts(try message("link", "s", 5001), via: link, at: .seconds(1)))
  }

  /// Ana hears of all others through Ben, who passes on what Mal floods him with.
  @Test func anAuthorThatFloodsARelaySilencesNeitherTheRelayNorOthersBehindIt() throws {
    var gate = EphemeralGate()
    let ben = PeerId("ben")
    var heard = 0
    for count in 1...5000 {
      // Under ever new ids of her own processes, too.
      let author = count.isMultiple(of: 2) ? "mal" : "mal/\(count)"
      if gate.accepts(try message(author, "s", UInt64(count)), via: ben, at: .zero) { heard += 1 }
    }
    #expect(heard == EphemeralGate.maximumOfAuthorAtOnce)
    #expect(gate.accepts(try message("eva", "s", 1), via: ben, at: .zero))
    #expect(gate.accepts(try message("ben", "s", 1), via: ben, at: .zero))
    // With invented authors she uses up all that Ben may pass on, and not what he says himself.
    for author in 0..<100 {
      for count in UInt64(1)...100 { _ = gate.accepts(try message("\(author)", "s", count), via: ben, at: .zero) }
    }
    #expect(gate.accepts(try message("ben", "s", 2), via: ben, at: .zero))
    // The control: what a person does in a second, also after all that, and two of them.
    for step in 2...21 {
      let now = Duration.seconds(2) + .milliseconds(step * 50)
      for author in ["eva", "ben", "ben/1"] {
        #expect(gate.accepts(try message(author, "s", UInt64(step + 1)), via: ben, at: now))
      }
    }
  }

  /// A forger foresees Eva's counts. What she says is no echo of what is forged.
  @Test func whatIsForgedUnderTheNextCountsIsNoEcho() throws {
    var gate = EphemeralGate()
    func accepts(_ count: UInt64, _ words: String, via link: String) throws -> Bool {
      var message = try message("eva", "s", count)
      message.data = Data(words.utf8)
      return gate.accepts(message, via: PeerId(link), at: .zero)
    }
    // The same in the first hundred bytes.
    let start = String(repeating: "=", count: 100)
    #expect(try accepts(1, "\(start)1", via: "ben"))
    #expect(try !accepts(1, "\(start)1", via: "dan"), "an echo")
    for count in UInt64(2)...200 { _ = try accepts(count, "\(start)forged", via: "mal") }
    for count in UInt64(2)...200 {
      #expect(try accepts(count, "\(start)\(count)", via: "ben"))
      #expect(try !accepts(count, "\(start)\(count)", via: "dan"), "an echo, though a forger has filled the window")
    }
  }

  @Test func aLinkThatInventsStreamsDoesNotMakeEchoesOfOthersNew() throws {
    var gate = EphemeralGate()
    #expect(gate.accepts(try message("eva", "s", 1), via: PeerId("ben"), at: .zero))
    for number in 0..<5_000 {
      _ = gate.accepts(try message("mal/\(number)", "s", 1), via: PeerId("mal"), at: .milliseconds(number * 3))
    }
    #expect(!gate.accepts(try message("eva", "s", 1), via: PeerId("dan"), at: .seconds(20)))
  }
}

struct SyncHeaderTests {
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

  @Test func theChangesOfTheSenderAreCountedIfAllAreDescribed() throws {
    func count(_ have: [UInt8]) -> Int? { SyncHeader(Data([0x42, 0, 0] + have + [0]))?.senderChangeCount }
    let hash = [UInt8](repeating: 7, count: 32)
    #expect(count([1, 0, 5, 3, 10, 7, 0, 0]) == 3)
    #expect(count([1, 0, 0]) == 0)
    #expect(count([0]) == nil)
    // Only what is new since the two last agreed.
    #expect(count([1, 1] + hash + [5, 3, 10, 7, 0, 0]) == nil)
    // More than the bytes could describe.
    #expect(count([1, 0, 5, 0xff, 0x7f, 7, 0, 0]) == nil)
  }

  @Test func liesAreNoHeader() {
    for bytes: [UInt8] in [
      [], [0x41, 0, 0, 0, 0], [0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], [0x42, 1, 2, 3],
      [0x42, 0, 0, 200, 1], [0x42, 0, 0, 1, 0, 100, 0], [UInt8](repeating: 0xff, count: 64),
    ] { #expect(SyncHeader(Data(bytes)) == nil) }
  }
}
