internal import CUV

/// A clock that never goes backward.
public enum MonotonicTime {
  /// The time since some fixed point in the past, to the nanosecond.
  public static var now: Duration { .nanoseconds(Int64(truncatingIfNeeded: uv_hrtime())) }
}

extension Duration {
  /// Whole milliseconds for libuv's timers: rounded up, between 0 and the largest number.
  var uvMilliseconds: UInt64 {
    // `components` has no more seconds.
    guard self < .seconds(Int64.max) else { return UInt64.max / 2 }
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let attosecondsPerMillisecond: Int64 = 1_000_000_000_000_000
    let fraction = (attoseconds + attosecondsPerMillisecond - 1) / attosecondsPerMillisecond
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000)
    // Half of the largest number, because libuv adds the current time to it.
    return overflow ? UInt64.max / 2 : min(whole + UInt64(fraction), UInt64.max / 2)
  }
}
