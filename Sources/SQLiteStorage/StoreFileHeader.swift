import Foundation

/// What the first bytes of a store's file say. Reading them takes no lock, changes nothing, and repairs nothing.
public enum StoreFileHeader: Hashable, Sendable {
  /// There is no file yet.
  case missing
  case ours
  /// Written by a later notes-lsp.
  case newer(found: Int, known: Int)
  /// A database of another program.
  case foreign
  /// No database at all.
  case damaged
  /// Not a single byte.
  case empty
  case unreadable(code: Int32)

  private static let magic = Array("SQLite format 3\0".utf8)
  /// Where the two numbers are. Source: sqlite.org/fileformat.html, "The Database Header".
  private static let (byteCount, versionOffset, applicationOffset) = (100, 60, 68)

  /// - Parameter directory: the store's.
  public init(directory: String) {
    let descriptor = open(directory + "/" + DatabaseFile.name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      self = errno == ENOENT ? .missing : .unreadable(code: errno)
      return
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    let count = read(descriptor, &bytes, Self.byteCount)
    self = count < 0 ? .unreadable(code: errno) : Self(bytes.prefix(count))
  }

  /// A file with none of our numbers may be ours: they can still be in the log beside it.
  init(_ bytes: ArraySlice<UInt8>) {
    if bytes.isEmpty {
      self = .empty
    } else if bytes.count < Self.byteCount || !bytes.starts(with: Self.magic) {
      self = .damaged
    } else {
      let application = Self.number(in: bytes, at: Self.applicationOffset)
      let version = Self.number(in: bytes, at: Self.versionOffset)
      switch application {
      case 0: self = .ours
      case Int(StoreSchema.applicationId):
        self = version > StoreSchema.version ? .newer(found: version, known: StoreSchema.version) : .ours
      default: self = .foreign
      }
    }
  }

  private static func number(in bytes: ArraySlice<UInt8>, at offset: Int) -> Int {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }
}
