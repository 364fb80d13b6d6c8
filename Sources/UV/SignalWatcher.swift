internal import CUV

/// Calls back on the loop when the process gets a signal, which then no longer has its usual effect.
public final class SignalWatcher: Handle {
  public var onSignal: (() -> Void)?

  /// - Parameter signal: `SIGTERM`, `SIGINT`, …
  public init(on loop: Loop, signal: Int32, _ onSignal: @escaping () -> Void) throws(UVError) {
    self.onSignal = onSignal
    try super.init(on: loop, type: UV_SIGNAL) { memory in
      uv_signal_init(loop.raw, memory.assumingMemoryBound(to: uv_signal_t.self))
    }
    let status = uv_signal_start(
      raw(uv_signal_t.self),
      { raw, _ in
        guard let watcher = SignalWatcher.of(raw) else { return }
        watcher.loop.entered { watcher.onSignal?() }
      }, signal)
    if status < 0 {
      close()
      throw UVError(rawValue: status)
    }
  }

  override func dropCallbacks() {
    super.dropCallbacks()
    onSignal = nil
  }
}
