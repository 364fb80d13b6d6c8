import NotesServer
import Synchronization

/// The locks of a person's processes: shared or exclusive, held until they are released or their process ends.
final class SimulatedLocks: Sendable {
  private struct Held {
    var name: String
    var process: Int
    var isExclusive: Bool
  }

  private struct State {
    var held: [Int: Held] = [:]
    var count = 0
  }

  private let state = Mutex(State())

  /// Nil if another lock forbids it.
  func take(_ name: String, exclusively: Bool, by process: Int) -> (any NoteClaim)? {
    let number: Int? = state.withLock { state in
      for held in state.held.values where held.name == name {
        if exclusively || held.isExclusive { return nil }
      }
      state.count += 1
      state.held[state.count] = Held(name: name, process: process, isExclusive: exclusively)
      return state.count
    }
    return number.map { Claim(number: $0, locks: self) }
  }

  /// Frees the locks of a process that has ended, as the system does.
  func endAll(of process: Int) {
    state.withLock { state in state.held = state.held.filter { $0.value.process != process } }
  }

  private func end(_ number: Int) { state.withLock { state in state.held[number] = nil } }

  private final class Claim: NoteClaim {
    private let number: Int
    private let locks: SimulatedLocks

    init(number: Int, locks: SimulatedLocks) { (self.number, self.locks) = (number, locks) }

    deinit { locks.end(number) }
  }
}
