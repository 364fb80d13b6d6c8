import AutomergeRepo
import UV

/// Work whose result a test waits for only as long as `eventually` does.
///
/// A test that fails still awaits its `async let`s at the end of their scope. On a clock that only the test moves, it
/// would then hang instead of failing.
@AutomergeRepo
final class Attempt<Value: Sendable> {
  private var value: Value?

  init(_ work: @escaping @AutomergeRepo () async -> Value) {
    Task { value = await work() }
  }

  /// Returns the result; throws if there is none after a generous time.
  func result(on loop: Loop) async throws -> Value {
    try await eventually("a result", on: loop) { value != nil }
    guard let value else { throw NeverHappened(what: "a result") }
    return value
  }
}
