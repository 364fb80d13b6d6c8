import Automerge
import Foundation
import Synchronization

/// Notices changes of a document that are made past its handle: by a bound value, by other code that holds the document, on
/// another thread.
final class DocumentWatch: Sendable {
  private let document: Document
  private let onChange: @Sendable () -> Void
  /// Which observer of the document this is.
  private let number = Mutex<Int?>(nil)
  /// The thread on which the handle changes the document right now; 0 if it does not.
  private let changingThread = Atomic<UInt>(0)
  private let isDirty = Atomic(false)

  /// - Parameter onChange: called once, on any thread, when the document has changed, and again only after `settle`.
  init(_ document: Document, onChange: @escaping @Sendable () -> Void) {
    (self.document, self.onChange) = (document, onChange)
    number.withLock { $0 = document.addObserver { [weak self] in self?.documentChanged() } }
  }

  deinit { stop() }

  func stop() {
    guard let number = number.withLock({ number in (number, number = nil).0 }) else { return }
    document.removeObserver(number)
  }

  private static var thisThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  private func documentChanged() {
    if changingThread.load(ordering: .relaxed) == Self.thisThread { return }
    if !isDirty.exchange(true, ordering: .acquiringAndReleasing) { onChange() }
  }

  /// Runs `body`, whose changes the caller sees to.
  func ignoring<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = changingThread.exchange(Self.thisThread, ordering: .relaxed)
    defer { changingThread.store(before, ordering: .relaxed) }
    return try body()
  }

  /// Whether the document has changed since the caller last saw to it.
  var hasNews: Bool { isDirty.load(ordering: .acquiring) }

  /// The caller sees to everything that has happened so far.
  func settle() { isDirty.store(false, ordering: .releasing) }
}
