import AutomergeRepo
import Foundation

/// What every storage provider must do, as checks to run on your own. They need no test framework: `run` throws.
///
///     try await StorageConformance { place in try MyStorage(at: folder.appendingPathComponent(place)) }.run()
public struct StorageConformance: Sendable {
  /// The checks, in the order in which they run.
  public enum Check: String, CaseIterable, Sendable {
    case savedValues
    case emptyValues
    case largeValues
    case emptyKeys
    case strangeKeys
    case ranges
    case children
    case removal
    case commitOrder
    case recordUpdates
    case settingAside
    case reopening
    case sharing
    case wholeValues
    case concurrentWriters
    case atomicCommits
  }

  /// What a provider may promise beyond the protocol.
  public struct Promises: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A commit is made as a whole, or not at all.
    public static let atomicCommits = Promises(rawValue: 1)
  }

  /// Opens the store at a place: an empty one when the suite first names the place, and the same one from then on. A
  /// second provider that is open at the same place acts as another process.
  public typealias Open = @Sendable (_ place: String) async throws -> any StorageProvider

  private let promises: Promises
  private let isForOneProcess: Bool
  private let open: Open

  /// - Parameter isForOneProcess: whether a store refuses a second process, which the protocol allows only if the file
  ///   system leaves no choice. Then no second provider is opened at a place that has one.
  public init(promising promises: Promises = [], isForOneProcess: Bool = false, open: @escaping Open) {
    (self.promises, self.isForOneProcess, self.open) = (promises, isForOneProcess, open)
  }

  /// Runs all checks, and throws a `ConformanceError` that names those that failed.
  public func run() async throws {
    let findings = await findings()
    if !findings.isEmpty { throw ConformanceError(findings: findings) }
  }

  /// Runs all checks, each at a place of its own, and returns those that failed.
  public func findings() async -> [ConformanceFinding] {
    var findings: [ConformanceFinding] = []
    for check in Check.allCases {
      do {
        try await perform(check)
      } catch let rule as BrokenRule {
        findings.append(ConformanceFinding(check: check.rawValue, problem: rule.description))
      } catch {
        findings.append(ConformanceFinding(check: check.rawValue, problem: "the provider threw \(error)"))
      }
    }
    return findings
  }

  private func perform(_ check: Check) async throws {
    let place = check.rawValue
    let store = try await open(place)
    // A store that looks like another process's.
    func other() async throws -> any StorageProvider { isForOneProcess ? store : try await open(place) }
    switch check {
    case .savedValues: try await savedValues(store)
    case .emptyValues: try await emptyValues(store)
    case .largeValues: try await largeValues(store)
    case .emptyKeys: try await emptyKeys(store)
    case .strangeKeys: try await strangeKeys(store)
    case .ranges: try await ranges(store)
    case .children: try await children(store)
    case .removal: try await removal(store)
    case .commitOrder: try await commitOrder(store)
    case .recordUpdates: try await recordUpdates(store)
    case .settingAside: try await settingAside(store)
    case .reopening: try await reopening(store, reopen: other)
    case .sharing: try await sharing(store, other())
    case .wholeValues: try await wholeValues(store, other())
    case .concurrentWriters: try await concurrentWriters(store, other())
    case .atomicCommits: if promises.contains(.atomicCommits) { try await atomicCommits(store, other()) }
    }
  }
}
