import Foundation

extension Data {
  /// Bytes whose repetition has no period of a power of two, so that no part can replace another unnoticed.
  static func pattern(byteCount: Int) -> Data {
    let block = (0..<251).map { UInt8($0) }
    var data = Data(capacity: byteCount + block.count)
    while data.count < byteCount { data.append(contentsOf: block) }
    return Data(data.prefix(byteCount))
  }
}
