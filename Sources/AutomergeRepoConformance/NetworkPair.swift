import AutomergeRepo

/// Two network providers that can reach each other, set up anew for each check.
@AutomergeRepo
public struct NetworkPair {
  /// One of the two: a provider that is not started, and what to start it as.
  public struct End: Sendable {
    public var provider: any NetworkProvider
    public var local: LocalPeer

    public init(_ provider: any NetworkProvider, as local: LocalPeer) {
      (self.provider, self.local) = (provider, local)
    }
  }

  public var first: End
  public var second: End
  /// The time that both providers use.
  public var clock: any RepoClock
  /// Connects the two once both are started, and again after a disconnection. Does nothing if they do so by themselves.
  public var connect: @AutomergeRepo () async throws -> Void
  /// Ends the connection without either provider, as a pulled cable does. Without it that check is left out.
  public var breakConnection: (@AutomergeRepo () async throws -> Void)?
  /// Sends bytes to the second provider in the place of the first, as a broken or hostile peer might. Without it that check is left
  /// out.
  public var inject: (@AutomergeRepo ([UInt8]) async throws -> Void)?
  /// The longest message that the providers send; nil if there is no limit.
  public var maximumByteCount: Int?
  /// Whether the providers obey `setReading` and report crowded peers.
  public var hasBackPressure: Bool
  /// Lets a little time pass. By default it waits for a millisecond of `clock`; with a clock that stands still, move it here.
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
