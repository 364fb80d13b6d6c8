import AutomergeRepo

/// What every network provider must do, as checks to run on your own. They need no test framework: `run` throws.
///
///     try await NetworkConformance { NetworkPair(…) { … } }.run()
@AutomergeRepo
public struct NetworkConformance {
  /// The checks, in the order in which they run: first the providers alone, then two repos over them.
  public enum Check: String, CaseIterable, Sendable {
    case connecting
    case everyMessage
    case order
    case longMessages
    case tooLongMessages
    case otherPeers
    case forgedSenders
    case disconnecting
    case brokenConnection
    case stopping
    case delegate
    case backPressure
    case brokenBytes
    case sync
    case ephemeralMessages
    case syncAfterReconnecting
  }

  /// Makes two providers that have never been started.
  public typealias MakePair = @AutomergeRepo () async throws -> NetworkPair

  let limit: Duration
  private let makePair: MakePair

  /// - Parameter limit: how long a check waits for something to happen, by the pair's clock
  public init(within limit: Duration = .seconds(10), makePair: @escaping MakePair) {
    (self.limit, self.makePair) = (limit, makePair)
  }

  /// Runs all checks, and throws a `ConformanceError` that names those that failed.
  public func run() async throws {
    let findings = await findings()
    if !findings.isEmpty { throw ConformanceError(findings: findings) }
  }

  /// Runs all checks, each with a pair of its own, and returns those that failed.
  public func findings() async -> [ConformanceFinding] {
    var findings: [ConformanceFinding] = []
    for check in Check.allCases {
      do {
        let pair = try await makePair()
        do {
          try await perform(check, pair)
        } catch {
          await stop(pair)
          throw error
        }
        await stop(pair)
      } catch {
        findings.append(ConformanceFinding(check: check.rawValue, problem: "\(error)"))
      }
    }
    return findings
  }

  private func stop(_ pair: NetworkPair) async {
    for end in [pair.first, pair.second] { end.provider.stop() }
    await pair.tearDown()
  }

  private func perform(_ check: Check, _ pair: NetworkPair) async throws {
    switch check {
    case .delegate: return try await delegate(pair)
    case .sync: return try await sync(pair)
    case .ephemeralMessages: return try await ephemeralMessages(pair)
    case .syncAfterReconnecting: return try await syncAfterReconnecting(pair)
    default: break
    }
    let stations = Stations(pair, limit: limit)
    try await stations.connect()
    switch check {
    case .connecting: try connecting(stations)
    case .everyMessage: try await everyMessage(stations)
    case .order: try await order(stations)
    case .longMessages: try await longMessages(stations)
    case .tooLongMessages: try await tooLongMessages(stations)
    case .otherPeers: try await otherPeers(stations)
    case .forgedSenders: try await forgedSenders(stations)
    case .disconnecting: try await disconnecting(stations)
    case .brokenConnection: try await brokenConnection(stations)
    case .stopping: try await stopping(stations)
    case .backPressure: try await backPressure(stations)
    case .brokenBytes: try await brokenBytes(stations)
    case .delegate, .sync, .ephemeralMessages, .syncAfterReconnecting: break
    }
    try stations.checkReports()
  }
}
