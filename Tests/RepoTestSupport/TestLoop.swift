import AutomergeRepo
import UV

/// The one event loop of a test process, on a thread of its own, which `AutomergeRepo` runs on once a test has asked.
public enum TestLoop {
  private static let shared = Result { () throws -> Loop in
    let loop = try Loop.shared()
    AutomergeRepo.install(executor: loop)
    return loop
  }

  /// Runs `body` on the loop's thread. Tests that make handles of the loop do so in here.
  public static func run<T: Sendable>(_ body: @AutomergeRepo (Loop) async throws -> T) async throws -> T {
    let loop = try shared.get()
    return try await onLoop(loop, body)
  }

  @AutomergeRepo
  private static func onLoop<T: Sendable>(
    _ loop: Loop, _ body: @AutomergeRepo (Loop) async throws -> T
  ) async throws -> T {
    // The executor may take over a moment after it was installed.
    while !loop.isOnLoop { await Task.yield() }
    return try await body(loop)
  }
}
