internal import CUV

/// A clock that never goes backward.
public enum MonotonicTime {
  /// The time since some fixed point in the past, to the nanosecond.
  public static var now: Duration { .nanoseconds(Int64(truncatingIfNeeded: uv_hrtime())) }
}

extension Duration {
  /// Whole milliseconds as libuv's timers count them: rounded up, from 0 to the largest.
  var uvMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let attosecondsPerMillisecond: Int64 = 1_000_000_000_000_000
    let fraction = (attoseconds + attosecondsPerMillisecond - 1) / attosecondsPerMillisecond
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000)
    // Half of the largest, because libuv adds the present time to it.
    return overflow ? UInt64.max / 2 : min(whole + UInt64(fraction), UInt64.max / 2)
  }
}
