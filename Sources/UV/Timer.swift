internal import CUV

/// Calls back once after a time, or repeatedly.
public final class Timer: Handle {
  public var onFire: (() -> Void)?

  public init(on loop: Loop, _ onFire: (() -> Void)? = nil) throws(UVError) {
    self.onFire = onFire
    try super.init(on: loop, type: UV_TIMER) { memory in
      uv_timer_init(loop.raw, memory.assumingMemoryBound(to: uv_timer_t.self))
    }
  }

  /// Fires after this time, and then at this interval if there is one. Restarts a running timer. Times are rounded up
  /// to milliseconds, at least one.
  public func start(after delay: Duration, repeating interval: Duration? = nil) {
    loop.preconditionOnLoop()
    guard isOpen else { return }
    // libuv counts from the beginning of the loop's turn, which may have been a while ago. Updating its time would make
    // timers due that do not belong to this turn, and timers that start one another would keep it from sockets forever.
    let now = uv_hrtime() / 1_000_000
    let behind = now - min(now, uv_now(loop.raw))
    let due = behind + max(1, delay.uvMilliseconds)
    let repeatMilliseconds = interval.map { max(1, $0.uvMilliseconds) } ?? 0
    uv_timer_start(
      raw(uv_timer_t.self),
      { raw in
        guard let timer = Timer.of(raw) else { return }
        timer.loop.entered { timer.onFire?() }
      }, due, repeatMilliseconds)
  }

  public func stop() {
    loop.preconditionOnLoop()
    guard isOpen else { return }
    uv_timer_stop(raw(uv_timer_t.self))
  }

  public var isRunning: Bool { isOpen && uv_is_active(raw(uv_handle_t.self)) != 0 }

  override func dropCallbacks() {
    super.dropCallbacks()
    onFire = nil
  }
}

extension Loop {
  /// Calls `body` once after a time, unless the returned timer is closed before.
  @discardableResult
  public func after(_ delay: Duration, _ body: @escaping () -> Void) throws(UVError) -> Timer {
    let timer = try Timer(on: self)
    timer.onFire = { [unowned timer] in
      timer.close()
      body()
    }
    timer.start(after: delay)
    return timer
  }
}
