import Foundation
import TestSupport

/// Waits on a loopback port for one editor to connect, then exchanges lines with it.
public final class ControlListener {
  /// Below those that systems give out: a service of another test may call the former port of a peer that has ended.
  private static let ports: ClosedRange<UInt16> = 20_000...29_999
  private static let maximumAttempts = 100

  public let port: UInt16
  private let listener: Int32
  private var connection: Int32 = -1
  private var received: [UInt8] = []

  public init() throws {
    #if os(Linux)
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    self.listener = listener
    guard listener >= 0 else { throw ProcessError.system(call: "socket", errno: errno) }
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    for _ in 0..<Self.maximumAttempts {
      let port = UInt16.random(in: Self.ports)
      if Self.listens(listener, at: port) {
        self.port = port
        return
      }
    }
    port = 0
    throw ProcessError.system(call: "listen", errno: errno)
  }

  private static func listens(_ socket: Int32, at port: UInt16) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(socket, 1) == 0
      }
    }
  }

  deinit {
    close(listener)
    if connection >= 0 { close(connection) }
  }

  public func acceptConnection(until deadline: ContinuousClock.Instant) throws {
    try waitForInput(listener, until: deadline, "the editor to connect")
    connection = accept(listener, nil, nil)
    guard connection >= 0 else { throw ProcessError.system(call: "accept", errno: errno) }
    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
  }

  public func send(_ line: [UInt8]) throws {
    var rest = (line + [10])[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
      guard count > 0 else { throw ProcessError.system(call: "write to the editor", errno: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// The next line, without its line feed.
  public func receiveLine(until deadline: ContinuousClock.Instant) throws -> [UInt8] {
    var searched = 0
    while true {
      if let end = received[searched...].firstIndex(of: 10) {
        let line = Array(received[..<end])
        received.removeSubrange(...end)
        return line
      }
      searched = received.count
      try waitForInput(connection, until: deadline, "an answer of the editor")
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = buffer.withUnsafeMutableBytes { read(connection, $0.baseAddress, $0.count) }
      guard count > 0 else { throw ProcessError.ended(waitingFor: "an answer of the editor", details: "") }
      received += buffer[0..<count]
    }
  }

  private func waitForInput(_ descriptor: Int32, until deadline: ContinuousClock.Instant, _ what: String) throws {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let milliseconds = (deadline - .now) / .milliseconds(1)
      if poll(&entry, 1, Int32(max(0, min(milliseconds, 60_000)).rounded(.up))) > 0 { return }
      if ContinuousClock.now >= deadline { throw ProcessError.timedOut(waitingFor: what, details: "") }
    }
  }
}
