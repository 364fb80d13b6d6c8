import Foundation

/// `file:` URIs and absolute paths.
enum FileURI {
  /// Letters, digits and what RFC 3986 lets stand in a path; everything else is percent-encoded byte by byte.
  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)

  static func uri(path: String) -> String {
    var uri = "file://"
    for byte in path.utf8 {
      if plain.contains(byte) {
        uri.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        uri += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return uri
  }

  /// Nil unless it is a `file:` URI of this machine with an absolute path that is UTF-8.
  static func path(uri: String) -> String? {
    for prefix in ["file:///", "file://localhost/"] where uri.hasPrefix(prefix) {
      guard let path = String(uri.dropFirst(prefix.count - 1)).removingPercentEncoding, !path.utf8.contains(0) else {
        return nil
      }
      return (path as NSString).standardizingPath
    }
    return nil
  }
}
