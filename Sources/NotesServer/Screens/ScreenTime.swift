import Foundation

/// Times as lists show them: short, in this machine's time zone.
struct ScreenTime {
  private let today: tm
  /// Converts to that time zone; a test uses another.
  private let local: (time_t) -> tm

  init(now: Date, local: @escaping (time_t) -> tm = Self.here) {
    self.local = local
    today = local(Self.seconds(now))
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// `14:02` for today, `Nov 24` for this year, otherwise `2025-11`.
  func short(_ date: Date) -> String {
    let parts = local(Self.seconds(date))
    if isToday(parts) { return Self.clock(parts) }
    return isThisYear(parts) ? Self.day(parts) : "\(Self.year(parts))-\(Self.two(parts.tm_mon + 1))"
  }

  /// `14:02` for today, otherwise `Nov 24 14:02`, preceded by the year if it is another.
  func full(_ date: Date) -> String {
    let parts = local(Self.seconds(date))
    if isToday(parts) { return Self.clock(parts) }
    let day = Self.day(parts) + " " + Self.clock(parts)
    return isThisYear(parts) ? day : "\(Self.year(parts)) " + day
  }

  private func isThisYear(_ parts: tm) -> Bool { parts.tm_year == today.tm_year }
  private func isToday(_ parts: tm) -> Bool { isThisYear(parts) && parts.tm_yday == today.tm_yday }

  private static func year(_ parts: tm) -> Int { Int(parts.tm_year) + 1900 }
  private static func day(_ parts: tm) -> String { "\(months[Int(parts.tm_mon) % 12]) \(parts.tm_mday)" }
  private static func clock(_ parts: tm) -> String { "\(two(parts.tm_hour)):\(two(parts.tm_min))" }
  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// A peer may have written any time of 64 bits into a change: it is cut to the years 1 to 9999.
  private static func seconds(_ date: Date) -> time_t { time_t(date.milliseconds / 1000) }

  private static func here(_ time: time_t) -> tm {
    var time = time, parts = tm()
    localtime_r(&time, &parts)
    return parts
  }
}
