/// How many connections a WebSocket server keeps open.
public struct WebSocketLimits: Hashable, Sendable {
  /// In total, including those that the provider opened. Further callers are turned away.
  public var maximumCount: Int
  /// Connections of callers that have not introduced themselves. A further one ends the oldest connection of the
  /// address with the most.
  public var maximumNewcomerCount: Int
  /// Such connections from one address. A proxy in front of the server is one address.
  public var maximumNewcomersPerAddress: Int

  public init(maximumCount: Int = 8192, maximumNewcomerCount: Int = 1024, maximumNewcomersPerAddress: Int = 512) {
    (self.maximumCount, self.maximumNewcomerCount) = (maximumCount, maximumNewcomerCount)
    self.maximumNewcomersPerAddress = maximumNewcomersPerAddress
  }
}
