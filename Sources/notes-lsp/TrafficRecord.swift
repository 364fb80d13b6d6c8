import Foundation

/// Records what passed between editor and service, for debugging.
///
/// Each piece is a line `DIRECTION MILLISECONDS BYTES`, then the bytes, then a line feed. `>` is to the service.
final class TrafficRecord {
  private let file: FileHandle

  init?(path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  func note(_ direction: String, _ bytes: [UInt8]) {
    let milliseconds = Int(Date().timeIntervalSince1970 * 1000)
    var piece = Data("\(direction) \(milliseconds) \(bytes.count)\n".utf8)
    piece.append(contentsOf: bytes)
    piece.append(0x0A)
    // A record that cannot be written must not end the session.
    try? file.write(contentsOf: piece)
  }
}
