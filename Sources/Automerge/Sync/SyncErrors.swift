import Foundation

/// Why a kept sync state could not be read.
public enum DecodeSyncStateError: Error, Hashable, Sendable {
  case format(FormatError)

  static func decoding(_ bytes: Data) throws(DecodeSyncStateError) -> SyncProgress {
    do throws(FormatError) { return try SyncProgress(persisted: Array(bytes)[...]) } catch { throw .format(error) }
  }
}

/// Why a sync message could not be taken in. Nothing of the document is changed then; what is known of the peer is as
/// before, but for that it has answered.
public enum ReceiveSyncError: Error, Hashable, Sendable {
  /// The message itself cannot be read.
  case invalidMessage(FormatError)
  /// None of the changes in it can be used.
  case changes(LoadError)

  static func decoding(_ message: Data) throws(ReceiveSyncError) -> SyncMessage {
    do throws(FormatError) { return try SyncMessage(decoding: message.withUnsafeBytes { Array($0) }[...]) } catch {
      throw .invalidMessage(error)
    }
  }

  /// Runs what applies the changes of a message, and names what it throws.
  static func naming(_ body: () throws -> Void) throws {
    do { try body() } catch let error as LoadError { throw ReceiveSyncError.changes(error) }
  }
}

extension DecodeSyncStateError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .format(let error): "the kept sync state cannot be read: \(error.sentence)"
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
