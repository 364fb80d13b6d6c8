import Foundation
import Synchronization

/// Hands a document's state to one thread at a time, and lets no thread split a change that another one is making.
struct DocumentLock: ~Copyable, Sendable {
  private let state: Mutex<DocumentState>
  /// Held by a thread while it makes a change that no other thread may split.
  private let turn = Mutex(())

  init(_ core: sending DocumentCore) { state = Mutex(DocumentState(core: core)) }

  /// Without applying buffered keystrokes.
  @inline(__always)
  func asItIs<Result: Sendable>(_ body: (inout DocumentState) -> Result) -> Result {
    while true {
      var result: Result?
      state.withLock { state in
        guard state.isFree else { return }
        result = body(&state)
      }
      if let result { return result }
      turn.withLock { _ in }
    }
  }

  @inline(__always)
  func use<Result: Sendable, Failure: Error>(
    _ body: (inout DocumentState) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    while true {
      var result: Result?
      try state.withLock { (state) throws(Failure) in
        guard state.isFree else { return }
        state.applyKeystrokes()
        result = try body(&state)
      }
      if let result { return result }
      turn.withLock { _ in }
    }
  }

  /// For a caller that holds another document's lock. Nil if another thread is making a change: the caller has to release that
  /// lock, and to `wait`.
  ///
  /// - Parameter mayWait: false if the caller is making a change of the other document. Two such threads would wait for each
  ///   other, so the change of this document may be split.
  func useNow<Result: Sendable>(mayWait: Bool, _ body: (inout DocumentState) throws -> Result) throws -> Result? {
    var result: Result?
    try state.withLock { state in
      guard state.isFree || !mayWait else { return }
      state.applyKeystrokes()
      result = try body(&state)
    }
    return result
  }

  /// Returns when no thread is making a change that was being made at the call.
  func wait() { turn.withLock { _ in } }

  /// Runs `body` while other threads wait.
  func keepOthersOut<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let thread = Self.thisThread
    if state.withLock({ $0.changingThread }) == thread { return try body() }
    var result: Result?
    try turn.withLock { (_) throws(Failure) in
      state.withLock { $0.changingThread = thread }
      defer { state.withLock { $0.changingThread = 0 } }
      result = try body()
    }
    guard let result else { preconditionFailure("the body has run") }
    return result
  }

  fileprivate static var thisThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}

/// A document's whole mutable state, which its lock hands to one thread at a time.
///
/// Neither this nor the objects of the core are `Sendable`, so the compiler refuses to return one from the lock. It
/// does not notice if a closure assigns one to a variable outside.
struct DocumentState: ~Copyable {
  var core: DocumentCore
  /// Buffered keystrokes that are not in the core yet.
  var keystrokes = Keystrokes()
  /// The thread that is making a change that no other thread may split; 0 if there is none.
  var changingThread: UInt = 0
  /// How often changes were removed, after which the others have new places in the history.
  var removalCount = 0

  init(core: DocumentCore) { self.core = core }

  /// Whether no other thread is making a change that this one would split.
  var isFree: Bool { changingThread == 0 || changingThread == DocumentLock.thisThread }

  /// Applies buffered keystrokes, and buffers no more until they are expected again.
  @inline(__always)
  mutating func applyKeystrokes() {
    guard keystrokes.object != nil else { return }
    core.apply(&keystrokes)
    keystrokes.expectNone()
  }
}
