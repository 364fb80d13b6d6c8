import Foundation

/// A check that a provider failed.
public struct ConformanceFinding: Hashable, Sendable, CustomStringConvertible {
  /// The name of the check, such as `ranges`.
  public let check: String
  /// The rule that the provider broke, or the error that it threw.
  public let problem: String

  public var description: String { "\(check): \(problem)" }
}

/// A provider does not conform: the checks that it failed, and why.
public struct ConformanceError: LocalizedError, CustomStringConvertible {
  public let findings: [ConformanceFinding]

  public var description: String { findings.map(\.description).joined(separator: "\n") }
  public var errorDescription: String? { description }
}

/// A provider broke this rule.
struct BrokenRule: Error, CustomStringConvertible {
  let description: String
}

/// Throws if a rule does not hold.
func expect(_ holds: Bool, _ rule: @autoclosure () -> String) throws(BrokenRule) {
  if !holds { throw BrokenRule(description: "broken rule: \(rule())") }
}
