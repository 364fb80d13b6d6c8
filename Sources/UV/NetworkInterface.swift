internal import CUV

/// One address of one of this machine's active network interfaces.
public struct NetworkInterface: Hashable, Sendable {
  /// `eth0`
  public let name: String
  /// Its port is 0.
  public let address: SocketAddress
  /// Whether it is reachable only from this machine.
  public let isInternal: Bool
  /// How many bits of the address name its network.
  public let prefixLength: Int

  /// Whether a numeric host is on this address's network, without a router in between.
  public func isNear(_ host: String) -> Bool {
    guard let own = sockaddr_storage(numericHost: address.host, port: 0)?.hostBytes,
      let other = sockaddr_storage(numericHost: host, port: 0)?.hostBytes, own.count == other.count
    else { return false }
    var bitsLeft = prefixLength
    for (left, right) in zip(own, other) where bitsLeft > 0 {
      let mask: UInt8 = bitsLeft >= 8 ? 0xff : ~(0xff >> UInt8(bitsLeft))
      guard left & mask == right & mask else { return false }
      bitsLeft -= 8
    }
    return prefixLength > 0
  }

  /// All addresses; none if the system does not report them.
  /// - Complexity: O(n) in the interfaces, with a few system calls
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
      var mask = sockaddr_storage()
      withUnsafeBytes(of: entry.netmask) { bytes in
        withUnsafeMutableBytes(of: &mask) { $0.copyMemory(from: bytes) }
      }
      mask.ss_family = storage.ss_family
      return NetworkInterface(
        name: String(cString: name), address: address, isInternal: entry.is_internal != 0,
        prefixLength: mask.hostBytes.reduce(0) { $0 + $1.nonzeroBitCount })
    }
  }
}
