import Testing

@testable import PeerNetwork
@testable import PeerTransport

/// What a link does about bytes that wait, as a value.
struct BackPressureTests {
  @Test func crowdingIsReportedOnceAndTakenBackOnce() {
    var pressure = BackPressure()
    let much = BackPressure.crowdedByteCount
    let reports = [(much, false), (much + 1, false), (BackPressure.maximumByteCount, true)].map { byteCount, isMuch in
      pressure.crowds(unsentByteCount: byteCount, isMuchForAll: isMuch)
    }
    #expect(reports == [false, true, false])
    let taken = (0..<2).map { _ in pressure.takeCrowding() }
    #expect(taken == [true, false])
    let again = pressure.crowds(unsentByteCount: 1, isMuchForAll: true)
    #expect(again, "much waits for other peers")
  }

  @Test func aPingIsAnsweredAtOnceWhereThereIsRoomAndOnceLaterElsewhere() {
    var pressure = BackPressure()
    let answers = [0, 1, 1, 1].map { pressure.answersPing(unsentByteCount: $0) }
    #expect(answers == [true, false, false, false])
    let owed = (0..<2).map { _ in pressure.takeOwedPong() }
    #expect(owed == [true, false])
  }
}
