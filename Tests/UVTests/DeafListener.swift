import Foundation
import Testing

/// Listens and accepts no connection: the kernel answers the first caller, and no other.
final class DeafListener {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(opened, $0, length) == 0 && listen(opened, 0) == 0 && getsockname(opened, $0, &length) == 0
      }
    }
    try #require(listens)
    (descriptor, port) = (opened, UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }
}
