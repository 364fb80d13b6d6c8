import Foundation

/// `file:` URIs and absolute paths.
enum FileURI {
  /// Letters, digits and the characters that RFC 3986 allows in a path; all other bytes are percent-encoded.
  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
  private static let isPlain = (UInt8.min ... .max).map { plain.contains($0) }
  private static let digits = Array("0123456789ABCDEF".utf8)

  static func uri(path: String) -> String {
    var uri = Array("file://".utf8)
    uri.reserveCapacity(uri.count + path.utf8.count)
    for byte in path.utf8 {
      if isPlain[Int(byte)] {
        uri.append(byte)
      } else {
        uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: uri, as: UTF8.self)
  }

  /// Where a file is: by its name as it is written, and, if that is another, by the one to which symbolic links lead. A note's
  /// working file may itself be such a link. Empty unless it is a `file:` URI of this machine with an absolute UTF-8 path.
  static func places(uri: String) -> [String] {
    guard let written = path(uri: uri) else { return [] }
    let real = (written as NSString).standardizingPath
    return real == written ? [written] : [written, real]
  }

  /// The path as it is written, without `.`, `..` and empty names. Nil as above.
  static func path(uri: String) -> String? {
    for prefix in ["file:///", "file://localhost/"] where uri.hasPrefix(prefix) {
      guard let path = String(uri.dropFirst(prefix.count - 1)).removingPercentEncoding, !path.utf8.contains(0) else {
        return nil
      }
      var names: [Substring] = []
      for name in path.split(separator: "/") where name != "." {
        if name == ".." { _ = names.popLast() } else { names.append(name) }
      }
      return "/" + names.joined(separator: "/")
    }
    return nil
  }
}
