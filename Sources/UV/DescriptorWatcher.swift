internal import CUV

/// Watches a file descriptor that its owner reads and closes.
///
/// Close the watcher before the descriptor is closed.
public final class DescriptorWatcher: Handle {
  public struct Events: OptionSet, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    public static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
    public static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
    /// The other side has hung up.
    public static let disconnected = Events(rawValue: Int32(UV_DISCONNECT.rawValue))
  }

  /// Called with the events, repeatedly while they persist. After an error the events are empty.
  public var onEvents: ((Events, UVError?) -> Void)?

  public init(on loop: Loop, descriptor: Int32, _ onEvents: ((Events, UVError?) -> Void)? = nil) throws(UVError) {
    self.onEvents = onEvents
    try super.init(on: loop, type: UV_POLL) { memory in
      uv_poll_init(loop.raw, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
    }
  }

  /// Watches for these events only, from now on.
  public func watch(_ events: Events) throws(UVError) {
    loop.preconditionOnLoop()
    guard isOpen else { return }
    guard !events.isEmpty else {
      uv_poll_stop(raw(uv_poll_t.self))
      return
    }
    try UVError.check(
      uv_poll_start(raw(uv_poll_t.self), events.rawValue) { raw, status, events in
        guard let watcher = DescriptorWatcher.of(raw) else { return }
        watcher.loop.entered {
          watcher.onEvents?(Events(rawValue: status < 0 ? 0 : events), status < 0 ? UVError(rawValue: status) : nil)
        }
      })
  }

  override func dropCallbacks() {
    super.dropCallbacks()
    onEvents = nil
  }
}
