/// How many connections a WebSocket server keeps.
public struct WebSocketLimits: Hashable, Sendable {
  /// In all, those that the provider has opened included. Further callers are turned away.
  public var maximumCount: Int
  /// Callers that have not introduced themselves. One more ends the oldest connection of the address with the most.
  public var maximumNewcomerCount: Int
  /// Of these, from one address. A proxy in front of the server is one address.
  public var maximumNewcomersPerAddress: Int

  public init(maximumCount: Int = 8192, maximumNewcomerCount: Int = 1024, maximumNewcomersPerAddress: Int = 512) {
    (self.maximumCount, self.maximumNewcomerCount) = (maximumCount, maximumNewcomerCount)
    self.maximumNewcomersPerAddress = maximumNewcomersPerAddress
  }
}
