import Foundation

/// Why a stored sync state could not be read.
public enum DecodeSyncStateError: Error, Hashable, Sendable {
  case format(FormatError)

  static func decoding(_ bytes: Data) throws(DecodeSyncStateError) -> SyncProgress {
    do throws(FormatError) { return try SyncProgress(persisted: Array(bytes)[...]) } catch { throw .format(error) }
  }
}

/// Why a sync message could not be applied. The document is then unchanged, and so is what is known of the peer, except
/// that it has answered.
public enum ReceiveSyncError: Error, Hashable, Sendable {
  /// The message cannot be read.
  case invalidMessage(FormatError)
  /// None of the changes in it can be used.
  case changes(LoadError)

  static func decoding(_ message: Data) throws(ReceiveSyncError) -> SyncMessage {
    do throws(FormatError) { return try SyncMessage(decoding: message.withUnsafeBytes { Array($0) }[...]) } catch {
      throw .invalidMessage(error)
    }
  }

  /// Runs the code that applies the changes of a message, and wraps its errors.
  static func naming(_ body: () throws -> Void) throws {
    do { try body() } catch let error as LoadError { throw ReceiveSyncError.changes(error) }
  }
}

extension DecodeSyncStateError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .format(let error): "the stored sync state cannot be read: \(error.sentence)"
    }
  }
}

extension ReceiveSyncError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .invalidMessage(let error): "the sync message cannot be read: \(error.sentence)"
    case .changes(let error): "the changes in the sync message cannot be used: \(error.sentence)"
    }
  }
}
