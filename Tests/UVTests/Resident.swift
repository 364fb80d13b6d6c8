import UV

/// An actor that lives on a loop.
actor Resident {
  nonisolated let loop: Loop
  private(set) var values: [Int] = []

  init(on loop: Loop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func add(_ value: Int) -> Bool {
    values.append(value)
    return loop.isOnLoop
  }

  /// Whether no other job had a turn before the closure of a continuation ran, and before a method of this actor did.
  func keepsItsTurn() async -> (inContinuation: Bool, inMethod: Bool) {
    let others = Shared(0)
    loop.post { others.change { $0 += 1 } }
    let inContinuation = await withCheckedContinuation { $0.resume(returning: others.value == 0) }
    let before = others.value
    loop.post { others.change { $0 += 1 } }
    return (inContinuation, await read(others) == before)
  }

  private func read(_ count: Shared<Int>) async -> Int { count.value }

  func isBackAfter(_ work: @Sendable () async -> Bool) async -> [Bool] {
    let before = loop.isOnLoop
    return [before, await work(), loop.isOnLoop]
  }

  func yieldUntil(_ isDone: Shared<Bool>) async {
    while !isDone.value { await Task.yield() }
    loop.stop()
  }
}
