import Foundation

/// Times as lists have them: short, in the zone of this machine.
struct ScreenTime {
  private let today: tm
  /// The offset of that zone; a test uses another.
  private let local: (time_t) -> tm

  init(now: Date, local: @escaping (time_t) -> tm = Self.here) {
    self.local = local
    today = local(time_t(now.timeIntervalSince1970))
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// `14:02` of today, `Nov 24` of this year, else `2025-11`.
  func short(_ date: Date) -> String {
    let parts = local(time_t(date.timeIntervalSince1970))
    if isToday(parts) { return Self.clock(parts) }
    return isThisYear(parts) ? Self.day(parts) : "\(Self.year(parts))-\(Self.two(parts.tm_mon + 1))"
  }

  /// `14:02` of today, else `Nov 24 14:02`, with the year before it if that is another.
  func full(_ date: Date) -> String {
    let parts = local(time_t(date.timeIntervalSince1970))
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

  private static func here(_ time: time_t) -> tm {
    var time = time, parts = tm()
    localtime_r(&time, &parts)
    return parts
  }
}
