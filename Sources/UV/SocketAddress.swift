internal import CUV

/// An IP address and a port.
public struct SocketAddress: Hashable, Sendable {
  /// `127.0.0.1`, `::1`
  public let host: String
  public let port: UInt16
  public let isIPv6: Bool

  public var isLoopback: Bool { isIPv6 ? host == "::1" : host.hasPrefix("127.") }

  /// The address that a numeric host means; nil for a name. `host` becomes what libuv writes for it.
  public init?(host: String, port: UInt16) {
    guard let storage = sockaddr_storage(numericHost: host, port: port) else { return nil }
    self.init(storage)
  }

  /// The address without its port, most significant byte first: 4 bytes, or 16 for IPv6.
  public var hostBytes: [UInt8] { sockaddr_storage(numericHost: host, port: 0)?.hostBytes ?? [] }

  init?(_ storage: sockaddr_storage) {
    var storage = storage
    var text = [CChar](repeating: 0, count: 64)
    let status = withUnsafeMutablePointer(to: &storage) { storage -> Int32 in
      let raw = UnsafeMutableRawPointer(storage)
      return switch Int32(storage.pointee.ss_family) {
      case AF_INET: uv_ip4_name(raw.assumingMemoryBound(to: sockaddr_in.self), &text, text.count)
      case AF_INET6: uv_ip6_name(raw.assumingMemoryBound(to: sockaddr_in6.self), &text, text.count)
      default: UV_EINVAL.rawValue
      }
    }
    guard status == 0 else { return nil }
    host = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    isIPv6 = Int32(storage.ss_family) == AF_INET6
    // The port is at the same offset in both address families.
    port = withUnsafePointer(to: storage) {
      UInt16(bigEndian: UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port)
    }
  }
}

extension SocketAddress: CustomStringConvertible {
  /// `127.0.0.1:80`, `[::1]:80`
  public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension sockaddr_storage {
  /// The address that a numeric host means; nil for a name. Accepts `[::1]` and `fe80::1%eth0`.
  init?(numericHost host: String, port: UInt16) {
    guard !host.utf8.contains(0) else { return nil }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let host = isBracketed ? String(host.dropFirst().dropLast()) : host
    self.init()
    let status = withUnsafeMutablePointer(to: &self) { storage in
      let raw = UnsafeMutableRawPointer(storage)
      if !isBracketed, uv_ip4_addr(host, Int32(port), raw.assumingMemoryBound(to: sockaddr_in.self)) == 0 {
        return Int32(0)
      }
      return uv_ip6_addr(host, Int32(port), raw.assumingMemoryBound(to: sockaddr_in6.self))
    }
    guard status == 0 else { return nil }
  }

  /// The address without its port: 4 bytes or 16.
  var hostBytes: [UInt8] {
    withUnsafeBytes(of: self) { Int32(ss_family) == AF_INET ? Array($0[4..<8]) : Array($0[8..<24]) }
  }

  func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>) -> R) -> R {
    withUnsafePointer(to: self) { body(UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self)) }
  }

  /// Reads an address with a function that fills one in.
  static func read(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32) -> sockaddr_storage?
  {
    var storage = sockaddr_storage()
    var byteCount = Int32(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &storage) {
      fill(UnsafeMutableRawPointer($0).assumingMemoryBound(to: sockaddr.self), &byteCount)
    }
    return status == 0 ? storage : nil
  }
}
