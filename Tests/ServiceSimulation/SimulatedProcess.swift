import AutomergeRepo
import RepoTestSupport

/// One process of a person, as its access to the person's disk knows it. Every operation takes some time, and takes effect at its
/// end; none does once the process has ended.
@AutomergeRepo
final class SimulatedProcess {
  nonisolated let number: Int
  nonisolated let disk: SimulatedDisk
  private let clock: MachineClock
  private var random: RandomSource
  let run: String
  private(set) var isAlive = true
  /// Whether the journal lacks something, from then on: the service says that words may stand twice if it is killed now.
  var journalIsBroken = false
  /// When the last operation on the store is done: they keep their order.
  private var storeIsFree = Duration.zero

  init(_ number: Int, run: String, disk: SimulatedDisk, random: RandomSource) {
    (self.number, self.run, self.disk, self.random) = (number, run, disk, random)
    clock = disk.clock
  }

  /// The process ends as by a kill.
  func die() {
    isAlive = false
    disk.locks.endAll(of: number)
    disk.journals[run]?.isLocked = false
  }

  private func delay() -> Duration { .microseconds(Int64.random(in: 50...3_000, using: &random)) }

  func waitForStore() async {
    let time = max(storeIsFree, clock.now + delay())
    storeIsFree = time
    _ = await clock.pause(for: time - clock.now)
  }

  func waitForFiles() async { _ = await clock.pause(for: delay()) }
}
