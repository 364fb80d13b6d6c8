import Automerge
import AutomergeRepo

/// Wakes tasks that wait for a condition whenever it may have become true.
@AutomergeRepo
package final class Signal {
  private let clock: any RepoClock
  private var waiting: [Int: OneReply<Void>] = [:]
  private var waitCount = 0
  /// How many times this was sent.
  private(set) var count = 0

  package init(clock: any RepoClock) { self.clock = clock }

  /// Call when a condition may have become true.
  package func send() {
    count += 1
    let replies = waiting.values
    waiting = [:]
    for reply in replies { reply.resume(returning: ()) }
  }

  /// Returns at the next signal, or at this time of the clock; at once if there was one since `count` had this value.
  func next(after count: Int, until end: Duration) async {
    guard count == self.count else { return }
    waitCount += 1
    let number = waitCount
    let timer = clock.schedule(after: max(.zero, end - clock.now)) { [weak self] in
      self?.waiting.removeValue(forKey: number)?.resume(returning: ())
    }
    await OneReply<Void>.wait(otherwise: ()) { reply in waiting[number] = reply }
    timer.cancel()
  }

  /// Returns when the condition is true, or after a while.
  package func wait(within maximum: Duration, until condition: () -> Bool) async {
    let end = clock.now + maximum
    while !condition(), clock.now < end { await next(after: count, until: end) }
  }
}

extension DocHandle {
  /// Returns whether the document has these changes: as soon as it does, or after a while.
  func has(_ heads: Set<ChangeHash>, within maximum: Duration, by clock: any RepoClock) async -> Bool {
    let signal = Signal(clock: clock)
    let observation = observe { event in
      if case .headsChanged = event { signal.send() }
    }
    defer { observation.cancel() }
    await signal.wait(within: maximum) { document.unknown(heads).isEmpty }
    return document.unknown(heads).isEmpty
  }
}
