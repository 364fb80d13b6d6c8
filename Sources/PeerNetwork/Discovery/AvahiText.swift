internal import CAvahi
import Foundation
import Logging

/// Converts avahi's values to Swift's. All of them come from the network, and may be hostile.
enum AvahiText {
  /// None of our records has more strings, or longer ones.
  private static let maximumTexts = 16

  /// The strings of a TXT record that have the form `key=value` and are UTF-8. If a key occurs twice, the first string
  /// counts.
  static func pairs(in list: UnsafeMutablePointer<AvahiStringList>?) -> [String: String] {
    var pairs: [String: String] = [:]
    var entry = list
    var count = 0
    while let text = entry, count < maximumTexts {
      let bytes = UnsafeBufferPointer(start: avahi_string_list_get_text(text), count: avahi_string_list_get_size(text))
      if let split = bytes.firstIndex(of: UInt8(ascii: "=")),
        let key = String(validating: bytes[..<split], as: UTF8.self),
        let value = String(validating: bytes[(split + 1)...], as: UTF8.self), pairs[key] == nil
      {
        pairs[key] = value
      }
      entry = avahi_string_list_get_next(text)
      count += 1
    }
    return pairs
  }

  /// A numeric host. A link-local one has the interface's name appended.
  static func host(of address: AvahiAddress, interface: Int32) -> String {
    var address = address
    var text = [CChar](repeating: 0, count: 64)
    guard avahi_address_snprint(&text, text.count, &address) != nil else { return "" }
    let host = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard host.hasPrefix("fe80:"), let index = UInt32(exactly: interface) else { return host }
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE) + 1)
    guard if_indextoname(index, &name) != nil else { return "" }
    return host + "%" + String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// Avahi's own log, which has one receiver for the whole process.
enum AvahiLog {
  private static let logger = Logger(label: "avahi")

  /// Avahi logs much about networks without multicast, so log all of it at the debug level.
  static func connect() {
    avahi_set_log_function { _, text in
      if let text { Self.logger.debug("\(String(cString: text))") }
    }
  }
}
