import Foundation
import Synchronization

/// What an index into a text counts.
public enum TextEncoding: Hashable, Sendable { case graphemeCluster, unicodeScalar, utf8, utf16 }

/// An Automerge document: one replica of it, with its whole history. Safe to use from several threads.
///
/// Edits go into a pending transaction, which `commitWith` turns into a change; whatever needs whole changes (heads,
/// saving, syncing, merging, taking in changes of others) ends it by itself.
public final class Document: @unchecked Sendable {
  public let textEncoding: TextEncoding

  /// Guards `guardedCell`, and through it everything mutable of this document.
  private let lock = Mutex(())
  private let guardedCell: Cell<DocumentCore>
  /// Guarded by the lock as well.
  private let keystrokes = Cell(Keystrokes())
  /// The thread that makes a change no other thread may cut in two, else 0. Guarded by the lock as well.
  private let changingThread = Cell<UInt>(0)
  /// Held while such a change is made.
  private let turn = Mutex(())
  /// The observers that asked for `updates`.
  let observers = UpdateObservers()

  private init(core: DocumentCore, textEncoding: TextEncoding) {
    self.textEncoding = textEncoding
    guardedCell = Cell(core)
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// An empty document with a random actor. Nothing is logged, whatever `logLevel` says.
  public convenience init(textEncoding: TextEncoding = .unicodeScalar, logLevel: LogVerbosity = .errorOnly) {
    self.init(
      core: DocumentCore(actor: ActorId(), implicitCommitTime: { seconds(of: Date()) }), textEncoding: textEncoding)
  }

  /// Loads one or more chunks. Throws `LoadError` if nothing in them can be used.
  public convenience init(
    _ bytes: Data, textEncoding: TextEncoding = .unicodeScalar, logLevel: LogVerbosity = .errorOnly,
    verification: Verification = .immediate
  ) throws {
    let core = try DocumentCore.load(Array(bytes), actor: ActorId(), verification: verification) { seconds(of: Date()) }
    self.init(core: core, textEncoding: textEncoding)
  }

  /// Whether the changes of a loaded document still have the hashes that its heads stand for. Asked at once when a
  /// document is loaded with `Verification.immediate`; after a deferred one, whenever there is time.
  /// Throws `LoadError` if not: what was loaded is then another history than the one that was saved.
  /// - Complexity: O(n) in the changes that have no hash yet.
  public func verify() throws { try withCore { try $0.verify() } }

  /// This replica's name in the changes it makes. Setting it ends the pending transaction.
  public var actor: ActorId {
    get { withCore { $0.actor } }
    set {
      withCore { core in
        core.commitPending()
        core.actor = newValue
      }
    }
  }

  /// The same document, to be changed independently, by a new actor.
  public func fork() -> Document {
    withCore { core in
      core.commitPending()
      return Document(core: DocumentCore(copying: core, actor: ActorId()), textEncoding: textEncoding)
    }
  }

  /// The keystrokes that are kept, before anything else is done with the document.
  @inline(__always)
  func withKeystrokes<Result>(_ body: (inout Keystrokes, borrowing Cell<DocumentCore>) -> Result) -> Result {
    var result: Result?
    lock.withLock { _ in result = body(&keystrokes.address.pointee, guardedCell) }
    guard let result else { preconditionFailure("the body has run") }
    return result
  }

  /// The only way to the document's state but for keystrokes, which are applied before.
  @inline(__always)
  func withCore<Result, Failure: Error>(_ body: (DocumentCore) throws(Failure) -> Result) throws(Failure) -> Result {
    try replacingCore { (core) throws(Failure) in try body(core) }
  }

  /// As `withCore`, for what may put another core in its place.
  @inline(__always)
  func replacingCore<Result, Failure: Error>(
    _ body: (inout DocumentCore) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var isChanged = false
    defer { if isChanged { observers.notify() } }
    return try lockedCore { (core) throws(Failure) in
      let count = core.operationCount
      defer { isChanged = core.operationCount != count }
      return try body(&core)
    }
  }

  /// Expects keystrokes after an edit of a text, inside `withCore`.
  func expectKeystrokes(in object: ObjId, _ tree: TextTree, of core: DocumentCore) {
    core.expect(&keystrokes.address.pointee, in: object, tree, unit: textEncoding.unit)
  }

  /// Locks two documents at once, in an order that does not depend on the caller's.
  func withCore<Result>(
    and other: Document, _ body: (inout DocumentCore, DocumentCore) throws -> Result
  ) throws -> Result {
    var isChanged = false
    defer { if isChanged { observers.notify() } }
    func run(_ core: inout DocumentCore, _ theirs: DocumentCore) throws -> Result {
      let count = core.operationCount
      defer { isChanged = core.operationCount != count }
      return try body(&core, theirs)
    }
    if ObjectIdentifier(self) < ObjectIdentifier(other) {
      return try lockedCore { core in try other.lockedCore(waits: false) { try run(&core, $0) } }
    }
    return try other.lockedCore { theirs in try lockedCore(waits: false) { core in try run(&core, theirs) } }
  }

  /// Runs `body` while other threads that use the document wait. Without this, a thread that only asks for the heads
  /// would end the pending transaction between two edits that belong together.
  ///
  /// `body` must not wait for a thread that uses the document. Calls may be nested.
  package func withoutOtherThreads<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let thread = Self.thisThread
    if lock.withLock({ _ in changingThread.address.pointee }) == thread { return try body() }
    var result: Result?
    try turn.withLock { (_) throws(Failure) in
      lock.withLock { _ in changingThread.address.pointee = thread }
      defer { lock.withLock { _ in changingThread.address.pointee = 0 } }
      result = try body()
    }
    guard let result else { preconditionFailure("the body has run") }
    return result
  }

  private static var thisThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  /// - Parameter waits: whether a change that another thread makes is waited for. A caller that holds another document's lock
  ///   must not wait.
  @inline(__always)
  private func lockedCore<Result, Failure: Error>(
    waits: Bool = true, _ body: (inout DocumentCore) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    while true {
      var result: Result?
      try lock.withLock { (_) throws(Failure) in
        let changing = changingThread.address.pointee
        guard changing == 0 || !waits || changing == Self.thisThread else { return }
        if keystrokes.address.pointee.object != nil {
          guardedCell.address.pointee.apply(&keystrokes.address.pointee)
          keystrokes.address.pointee.expectNone()
        }
        result = try body(&guardedCell.address.pointee)
      }
      if let result { return result }
      turn.withLock { _ in }
    }
  }
}

/// When the changes of a loaded document are hashed, which takes most of the time of loading.
public enum Verification: Sendable {
  /// Before the document can be used.
  case immediate
  /// When the hashes are first needed, so always before a change is sent, or by `Document.verify`. For files that this program
  /// has written itself: their checksum is checked at once.
  case deferred
}

/// Whole seconds since 1970, as changes carry them.
func seconds(of date: Date) -> Int64 {
  Int64(exactly: date.timeIntervalSince1970.rounded(.towardZero)) ?? 0
}
