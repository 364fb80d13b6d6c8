import Foundation

/// How long a test waits for what is bound to come.
public enum Patience {
  /// Only ends a test that hangs, and proves nothing about speed: a machine may be busy with something else for minutes. Five
  /// minutes, times what the environment says in `NOTES_TEST_PATIENCE`.
  public static let hang: Duration = {
    let factor = ProcessInfo.processInfo.environment["NOTES_TEST_PATIENCE"].flatMap(Double.init) ?? 1
    return .milliseconds(Int(300_000 * max(0.1, min(factor, 100))))
  }()
}
