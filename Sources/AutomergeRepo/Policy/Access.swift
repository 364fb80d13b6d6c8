/// A peer's access to a document.
public enum Access: String, Hashable, Sendable, Comparable {
  case none
  /// The peer is sent everything; its changes are refused.
  case read
  case write

  private var rank: Int {
    switch self {
    case .none: 0
    case .read: 1
    case .write: 2
    }
  }

  public static func < (left: Access, right: Access) -> Bool { left.rank < right.rank }
}
