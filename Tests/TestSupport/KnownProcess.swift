import Foundation

/// A process of this machine, told from a later one that gets its number.
public struct KnownProcess: Sendable {
  public let id: pid_t
  private let start: Substring?

  /// - Parameter id: of a process that is running.
  public init(_ id: pid_t) { (self.id, start) = (id, Self.start(of: id)) }

  /// Sends a signal if the process is still there.
  public func send(_ signal: Int32) {
    if let start, Self.start(of: id) == start { kill(id, signal) }
  }

  /// When the process started, in ticks since the machine did. Source: proc(5), "/proc/pid/stat".
  private static func start(of id: pid_t) -> Substring? {
    guard let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return nil }
    // The name stands in brackets and may have blanks.
    let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 19 ? fields[19] : nil
  }
}
