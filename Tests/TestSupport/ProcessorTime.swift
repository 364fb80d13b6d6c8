import Foundation

/// How long a processor has worked, for tests of how much work something is: unlike a clock on the wall it hardly minds what
/// else the machine does.
public enum ProcessorTime {
  /// Seconds that a process has had in all its threads, to the hundredth; nil if there is no such process.
  public static func of(processId: pid_t) -> Double? {
    guard let status = try? String(contentsOfFile: "/proc/\(processId)/stat", encoding: .utf8),
      let end = status.lastIndex(of: ")")
    else { return nil }
    // What follows the name begins with the third field; the fourteenth and fifteenth are user and system time.
    let fields = status[status.index(after: end)...].split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Seconds that this thread has had while it did `work`.
  public static func inThisThread<Result>(_ work: () throws -> Result) rethrows -> (result: Result, seconds: Double) {
    let before = now()
    let result = try work()
    return (result, now() - before)
  }

  private static func now() -> Double { now(of: CLOCK_THREAD_CPUTIME_ID) / .seconds(1) }

  /// What all threads of this process have had. A manual clock that follows it leaves work on other threads its time, however
  /// busy other programs keep the machine.
  public static var ofThisProcess: Duration { now(of: CLOCK_PROCESS_CPUTIME_ID) }

  private static func now(of clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
