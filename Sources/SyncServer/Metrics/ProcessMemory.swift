import Foundation

/// The memory of this process.
public enum ProcessMemory {
  /// The bytes of this process that are in the machine's memory; nil if the system does not report them in `/proc`.
  public static var residentByteCount: Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
    let words = text.split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { return nil }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
