internal import CUV

/// One address of one of this machine's network interfaces that are up.
public struct NetworkInterface: Hashable, Sendable {
  /// `eth0`
  public let name: String
  /// Its port is 0.
  public let address: SocketAddress
  /// Whether it reaches this machine only.
  public let isInternal: Bool

  /// All of them; none if the system does not say.
  /// - Complexity: O(n) in the interfaces, with a few system calls.
  public static var all: [NetworkInterface] {
    var entries: UnsafeMutablePointer<uv_interface_address_t>?
    var count: Int32 = 0
    guard uv_interface_addresses(&entries, &count) == 0, let entries else { return [] }
    defer { uv_free_interface_addresses(entries, count) }
    return UnsafeBufferPointer(start: entries, count: Int(count)).compactMap { entry in
      var storage = sockaddr_storage()
      withUnsafeBytes(of: entry.address) { address in
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: address) }
      }
      guard let address = SocketAddress(storage), let name = entry.name else { return nil }
      return NetworkInterface(name: String(cString: name), address: address, isInternal: entry.is_internal != 0)
    }
  }
}
