import Foundation

/// What a process of this machine uses.
struct ServerUsage {
  let processId: pid_t

  /// Source: proc(5), "/proc/pid/stat" and "/proc/pid/statm".
  func figures() throws -> (residentBytes: Int, processor: Duration) {
    let stat = try String(contentsOfFile: "/proc/\(processId)/stat", encoding: .utf8)
    // The name stands in brackets and may have blanks.
    let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
    let pages = try String(contentsOfFile: "/proc/\(processId)/statm", encoding: .utf8).split(separator: " ")
    guard fields.count > 13, pages.count > 1, let user = Int(fields[11]), let system = Int(fields[12]),
      let resident = Int(pages[1])
    else { throw TraceError.unreadable("/proc/\(processId)/stat") }
    let ticks = Double(user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    return (resident * Int(sysconf(Int32(_SC_PAGESIZE))), .seconds(ticks))
  }
}
