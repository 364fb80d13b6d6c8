import Testing

@testable import PeerNetwork
@testable import PeerTransport

struct StallDetectionTests {
  /// When it calls anew, in milliseconds, looking twice a second for two minutes.
  private func calls(waiting: (Int) -> Int?, isAnswered: (Int) -> Bool) -> [Int] {
    var detection = StallDetection()
    return stride(from: 0, through: 120_000, by: 500).filter { time in
      detection.look(waiting: waiting(time), isAnswered: isAnswered(time), at: .milliseconds(time))
    }
  }

  @Test func whatDoesNotArriveIsNoticedAndCalledForLessAndLess() {
    let calls = calls(waiting: { _ in 100 }, isAnswered: { _ in false })
    let eager = calls.prefix { $0 < 60_000 }
    #expect(eager == stride(from: 1500, through: 59_500, by: 1000).map { $0 }[...])
    #expect(calls.count > eager.count + 10)
    #expect(zip(calls.dropFirst(eager.count), calls.dropFirst(eager.count + 1)).allSatisfy { $1 - $0 == 5000 })
  }

  @Test func whereAllIsWellThereIsNoRedial() {
    #expect(calls(waiting: { _ in 0 }, isAnswered: { _ in false }).isEmpty, "everything has arrived")
    #expect(calls(waiting: { _ in 1 << 20 }, isAnswered: { _ in true }).isEmpty, "slow, or not reading, and there")
    #expect(calls(waiting: { _ in nil }, isAnswered: { _ in false }).isEmpty, "it is not known")
    #expect(calls(waiting: { _ in 100 }, isAnswered: { $0 % 1500 == 0 }).isEmpty, "short gaps")
  }
}
