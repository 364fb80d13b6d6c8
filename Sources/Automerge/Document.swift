import Foundation

/// The unit that indexes into a text are counted in.
public enum TextEncoding: Hashable, Sendable { case graphemeCluster, unicodeScalar, utf8, utf16 }

/// One replica of an Automerge document, with its whole history. Safe to use from several threads.
///
/// Edits go into a pending transaction, which `commitWith` turns into a change. Whatever needs complete changes (heads,
/// saving, syncing, merging, applying changes of others) commits it implicitly; such a change has the time 0 and no
/// message, as in every Automerge library. `commitWith` sets both.
public final class Document: Sendable {
  public let textEncoding: TextEncoding

  private let lock: DocumentLock
  let observers = UpdateObservers()

  private init(core: sending DocumentCore, textEncoding: TextEncoding) {
    self.textEncoding = textEncoding
    lock = DocumentLock(core)
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// An empty document with a random actor. Nothing is logged, whatever `logLevel` says.
  public convenience init(textEncoding: TextEncoding = .unicodeScalar, logLevel: LogVerbosity = .errorOnly) {
    self.init(core: DocumentCore(actor: ActorId()), textEncoding: textEncoding)
  }

  /// Loads one or more chunks. Throws `LoadError` if none of them can be used.
  public convenience init(
    _ bytes: Data, textEncoding: TextEncoding = .unicodeScalar, logLevel: LogVerbosity = .errorOnly,
    verification: Verification = .immediate
  ) throws {
    let core = try DocumentCore.load(Array(bytes), actor: ActorId(), verification: verification)
    self.init(core: core, textEncoding: textEncoding)
  }

  /// Verifies that the changes of a loaded document have the hashes that its heads name. Loading with
  /// `Verification.immediate` does this at once; after a deferred one, call it whenever there is time. Throws
  /// `LoadError` if they do not: the loaded history is then not the one that was saved.
  /// - Complexity: O(n) in the changes that have no hash yet.
  public func verify() throws { try withCore { try $0.verify() } }

  /// The name of this replica in the changes it makes. Setting it commits the pending transaction.
  public var actor: ActorId {
    get { withCore { $0.actor } }
    set {
      withCore { core in
        core.commitPending()
        core.actor = newValue
      }
    }
  }

  /// A copy, to be changed independently, by a new actor.
  public func fork() -> Document {
    withCore { core in
      core.commitPending()
      // Unsafe, because the compiler cannot see that a copy shares no object with the core: the arenas copy memory.
      nonisolated(unsafe) let copy = DocumentCore(copying: core, actor: ActorId())
      return Document(core: copy, textEncoding: textEncoding)
    }
  }

  /// The state as it is, with buffered keystrokes that are not applied yet.
  @inline(__always)
  func withKeystrokes<Result: Sendable>(_ body: (inout DocumentState) -> Result) -> Result { lock.asItIs(body) }

  /// The only access to the document's state, except for keystrokes. Applies buffered keystrokes first.
  @inline(__always)
  func withCore<Value: Sendable, Fault: Error>(_ body: (DocumentCore) throws(Fault) -> Value) throws(Fault) -> Value {
    try replacingCore { (core) throws(Fault) in try body(core) }
  }

  /// Like `withCore`, for `body`s that may replace the core.
  @inline(__always)
  func replacingCore<Result: Sendable, Failure: Error>(
    _ body: (inout DocumentCore) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withState { (state) throws(Failure) in try body(&state.core) }
  }

  /// Like `withCore`, for edits after which keystrokes may be buffered.
  @inline(__always)
  func withState<Result: Sendable, Failure: Error>(
    _ body: (inout DocumentState) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var isChanged = false
    defer { if isChanged { observers.notify() } }
    return try lock.use { (state) throws(Failure) in
      let count = state.core.operationCount
      defer { isChanged = state.core.operationCount != count }
      return try body(&state)
    }
  }

  /// Locks two documents at once, in the same order whichever of them is called.
  func withCore<Result: Sendable>(
    and other: Document, _ body: (inout DocumentCore, DocumentCore) throws -> Result
  ) throws -> Result {
    var isChanged = false
    defer { if isChanged { observers.notify() } }
    func run(_ core: inout DocumentCore, _ theirs: DocumentCore) throws -> Result {
      let count = core.operationCount
      defer { isChanged = core.operationCount != count }
      return try body(&core, theirs)
    }
    let isFirst = ObjectIdentifier(self) < ObjectIdentifier(other)
    while true {
      let result =
        if isFirst {
          try lock.use { own in
            try other.lock.useNow(mayWait: own.changingThread == 0) { theirs in try run(&own.core, theirs.core) }
          }
        } else {
          try other.lock.use { theirs in
            try lock.useNow(mayWait: theirs.changingThread == 0) { own in try run(&own.core, theirs.core) }
          }
        }
      if let result { return result }
      (isFirst ? other : self).lock.wait()
    }
  }

  /// Runs `body` while other threads that use the document wait. Otherwise a thread that only reads the heads would
  /// commit the pending transaction between two edits that belong together.
  ///
  /// `body` must not wait for a thread that uses the document. Calls may be nested.
  package func withoutOtherThreads<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lock.keepOthersOut(body)
  }
}

/// When the changes of a loaded document are hashed, which takes most of the loading time.
public enum Verification: Sendable {
  /// Before the document can be used.
  case immediate
  /// When the hashes are first needed, so always before a change is sent, or by `Document.verify`. For files that this
  /// program wrote itself; their checksum is verified at once.
  case deferred
}

/// Whole seconds since 1970, as changes carry them.
func seconds(of date: Date) -> Int64 {
  Int64(exactly: date.timeIntervalSince1970.rounded(.towardZero)) ?? 0
}
