import Foundation
import TestSupport

/// Machines on one network, made of network namespaces: each has an address on a common bridge. Releasing the last
/// reference removes them.
public final class NetworkNamespaces {
  /// Why this system does not allow namespaces; nil if it does.
  public static let problem: String? = {
    do {
      _ = try NetworkNamespaces(count: 1)
      return nil
    } catch {
      return "\(error)"
    }
  }()

  private let prefix: String
  private let count: Int

  public init(count: Int) throws {
    prefix = "nl\(getpid())x\(UInt16.random(in: 0...999))"
    self.count = count
    try run(["ip", "netns", "add", switchName])
    try run(inNamespace: switchName, ["ip", "link", "add", "bridge", "type", "bridge"])
    try run(inNamespace: switchName, ["ip", "link", "set", "bridge", "up"])
    for index in 0..<count {
      try run(["ip", "netns", "add", name(index)])
      try run([
        "ip", "link", "add", "eth0", "netns", name(index), "type", "veth", "peer", "name", "port\(index)", "netns",
        switchName,
      ])
      try run(inNamespace: switchName, ["ip", "link", "set", "port\(index)", "master", "bridge", "up"])
      try run(inNamespace: name(index), ["ip", "address", "add", "\(address(index))/24", "dev", "eth0"])
      try run(inNamespace: name(index), ["ip", "link", "set", "lo", "up"])
      try run(inNamespace: name(index), ["ip", "link", "set", "eth0", "up"])
    }
  }

  deinit {
    for name in (0..<count).map(name) + [switchName] { _ = try? ChildProcess.run(["ip", "netns", "delete", name]) }
  }

  public func address(_ index: Int) -> String { "10.91.0.\(index + 1)" }

  /// The command line before a command that is to run on a machine.
  public func prefix(_ index: Int) -> [String] { ["ip", "netns", "exec", name(index)] }

  /// Runs a command on a machine, and throws unless it succeeds.
  public func run(on index: Int, _ command: [String]) throws { try run(inNamespace: name(index), command) }

  /// Switches a machine's only interface off, or on.
  public func setInterface(_ index: Int, isUp: Bool) throws {
    try run(on: index, ["ip", "link", "set", "eth0", isUp ? "up" : "down"])
  }

  /// Gives a machine another address; the one it had is gone.
  public func setAddress(_ index: Int, _ address: String) throws {
    try run(on: index, ["ip", "address", "flush", "dev", "eth0", "scope", "global"])
    try run(on: index, ["ip", "address", "add", "\(address)/24", "dev", "eth0"])
  }

  /// Pulls a machine's cable, or plugs it in again.
  public func setConnected(_ index: Int, _ isConnected: Bool) throws {
    try run(inNamespace: switchName, ["ip", "link", "set", "port\(index)", isConnected ? "up" : "down"])
  }

  /// Drops everything from and to a machine, or no longer, in the middle of the network: the machine itself does not
  /// notice.
  public func setReachable(_ index: Int, _ isReachable: Bool) throws {
    let port = ["ip", "link", "set", "port\(index)"]
    try run(inNamespace: switchName, port + (isReachable ? ["master", "bridge"] : ["nomaster"]))
  }

  /// Drops everything that one machine sends to another, but not what it receives from it.
  public func setOneWay(from index: Int, to other: Int, isOpen: Bool) throws {
    try run(
      inNamespace: name(index), ["ip", "route", isOpen ? "delete" : "add", "blackhole", "\(address(other))/32"])
  }

  private var switchName: String { prefix + "s" }
  private func name(_ index: Int) -> String { "\(prefix)n\(index)" }

  private func run(inNamespace name: String, _ command: [String]) throws {
    try run(["ip", "netns", "exec", name] + command)
  }

  private func run(_ command: [String]) throws {
    let result = try ChildProcess.run(command)
    guard result.exit == .code(0) else {
      throw ProcessError.ended(
        waitingFor: command.joined(separator: " "), details: String(decoding: result.errorOutput, as: UTF8.self))
    }
  }
}
