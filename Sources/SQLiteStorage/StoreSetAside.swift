import Synchronization

/// A database file that could not be used. It is kept, and a new one is in its place.
public struct StoreSetAside: Hashable, Sendable {
  public enum Cause: Hashable, Sendable {
    /// A database with faults, or none at all; every row that could still be read is in the new one.
    case damaged
    /// A file without a single byte, where a store must have been.
    case empty
  }

  public var cause: Cause
  /// The folder that has the file now.
  public var folder: String

  public init(cause: Cause, folder: String) { (self.cause, self.folder) = (cause, folder) }
}

/// Passes on what was set aside, including before there is a listener.
final class StoreSetAsideNews: Sendable {
  private struct State {
    var untold: [StoreSetAside] = []
    var tell: (@Sendable (StoreSetAside) -> Void)?
  }

  private let state = Mutex(State())

  func tell(_ news: StoreSetAside) {
    let tell = state.withLock { state in
      if state.tell == nil { state.untold.append(news) }
      return state.tell
    }
    tell?(news)
  }

  func listen(_ tell: @escaping @Sendable (StoreSetAside) -> Void) {
    let untold = state.withLock { state in
      defer { state = State(tell: tell) }
      return state.untold
    }
    for news in untold { tell(news) }
  }
}
