import AutomergeRepo
import RepoTestSupport

/// One process of a person, as its access to the person's disk knows it. Every operation takes some time and takes
/// effect at its end, unless the process has ended by then.
@AutomergeRepo
final class SimulatedProcess {
  nonisolated let number: Int
  nonisolated let disk: SimulatedDisk
  private let clock: MachineClock
  private var random: RandomSource
  let run: String
  private(set) var isAlive = true
  /// Whether the journal has missed a write: the service warns that words may appear twice if it is killed now.
  var journalIsBroken = false
  /// When the last operation on the store ends: operations keep their order.
  private var storeIsFree = Duration.zero

  init(_ number: Int, run: String, disk: SimulatedDisk, random: RandomSource) {
    (self.number, self.run, self.disk, self.random) = (number, run, disk, random)
    clock = disk.clock
  }

  /// Ends the process as a kill does.
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
