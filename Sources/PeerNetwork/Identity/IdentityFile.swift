import AutomergeRepo
import Foundation
import PeerTransport

/// Why the identity of a store cannot be used.
public enum IdentityError: Error, Hashable, Sendable {
  /// Other users of this machine can read the key, so they may have it, too.
  case readableByOthers(path: String)
  /// The file does not contain an Ed25519 key. It is never replaced silently, because peers know us by it.
  case damaged(path: String)
  case unusable(path: String, reason: String)
}

extension IdentityError: CustomStringConvertible {
  /// One sentence that says what to do.
  public var description: String {
    switch self {
    case .readableByOthers(let path): "other users can read the key in \(path); run: chmod 600 '\(path)'"
    case .damaged(let path):
      "\(path) contains no key; put a copy back, or remove it to start with a new key, which no peer knows"
    case .unusable(let path, let reason): "the key in \(path) cannot be used: \(reason)"
    }
  }
}

/// The file of an identity, in PEM, which only its owner may read.
public struct IdentityFile: Sendable {
  private static let maximumByteCount = 4096

  public let path: String

  public init(path: String) { self.path = path }

  /// Reads the identity; makes one if there is no file. If two processes do this at once, one makes it and both get it.
  public func load(random: RandomSource = RandomSource()) throws(IdentityError) -> Identity {
    if let identity = try read() { return identity }
    try create(Identity(random: random))
    guard let identity = try read() else { throw .unusable(path: path, reason: "it vanished") }
    return identity
  }

  /// Nil if there is no file.
  private func read() throws(IdentityError) -> Identity? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure()
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure() }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .unusable(path: path, reason: "it is not a regular file") }
    guard status.st_mode & 0o077 == 0 else { throw .readableByOthers(path: path) }
    var bytes = [UInt8](repeating: 0, count: Self.maximumByteCount)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw failure() }
    guard let identity = Identity(pem: String(decoding: bytes.prefix(count), as: UTF8.self)) else {
      throw .damaged(path: path)
    }
    return identity
  }

  /// Writes a temporary file, then puts it in place, unless another process was faster.
  private func create(_ identity: Identity) throws(IdentityError) {
    let temporary = "\(path).\(getpid()).new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure() }
    defer { unlink(temporary) }
    let bytes = Array(identity.pem.utf8)
    let isWritten = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count
    let isSafe = isWritten && fsync(descriptor) == 0
    let problem = failure()
    close(descriptor)
    guard isSafe else { throw problem }
    // Unlike a rename, a link never replaces an existing file.
    guard link(temporary, path) == 0 || errno == EEXIST else { throw failure() }
    let directory = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
    if directory >= 0 {
      fsync(directory)
      close(directory)
    }
  }

  private func failure() -> IdentityError { .unusable(path: path, reason: String(cString: strerror(errno))) }
}
