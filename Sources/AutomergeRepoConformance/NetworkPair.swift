import AutomergeRepo

/// Two network providers that can reach each other, set up anew for each check.
@AutomergeRepo
public struct NetworkPair {
  /// One of the two: a provider that is not started, and the identity to start it with.
  public struct End: Sendable {
    public var provider: any NetworkProvider
    public var local: LocalPeer

    public init(_ provider: any NetworkProvider, as local: LocalPeer) {
      (self.provider, self.local) = (provider, local)
    }
  }

  public var first: End
  public var second: End
  /// The clock that both providers use.
  public var clock: any RepoClock
  /// Connects the two once both are started, and again after a disconnection. Does nothing if they connect by
  /// themselves.
  public var connect: @AutomergeRepo () async throws -> Void
  /// Breaks the connection without either provider's doing, as a pulled cable does. If nil, that check is skipped.
  public var breakConnection: (@AutomergeRepo () async throws -> Void)?
  /// Sends bytes to the second provider in the name of the first, as a broken or hostile peer might. If nil, that check
  /// is skipped.
  public var inject: (@AutomergeRepo ([UInt8]) async throws -> Void)?
  /// The longest message that the providers send; nil if there is no limit.
  public var maximumByteCount: Int?
  /// Whether the providers obey `setReading` and report crowded peers.
  public var hasBackPressure: Bool
  /// Lets a little time pass. By default it waits for a millisecond of `clock`; advance a manual clock here.
  public var passTime: @AutomergeRepo () async -> Void
  /// Called when a check has ended and both providers are stopped.
  public var tearDown: @AutomergeRepo () async -> Void

  public init(
    _ first: End, _ second: End, clock: any RepoClock = SystemClock(), maximumByteCount: Int? = nil,
    hasBackPressure: Bool = false, connect: @escaping @AutomergeRepo () async throws -> Void = {}
  ) {
    (self.first, self.second, self.clock, self.connect) = (first, second, clock, connect)
    (self.maximumByteCount, self.hasBackPressure) = (maximumByteCount, hasBackPressure)
    passTime = {
      await withCheckedContinuation { continuation in
        clock.schedule(after: .milliseconds(1)) { continuation.resume() }
      }
    }
    tearDown = {}
  }
}
