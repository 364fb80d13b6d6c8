import Automerge
import Foundation
import Synchronization

/// Notices changes that are made to a document without its handle: by a bound value, or by other code that holds the
/// document, on any thread.
final class DocumentWatch: Sendable {
  private let document: Document
  private let onChange: @Sendable () -> Void
  /// This object's id among the document's observers.
  private let number = Mutex<Int?>(nil)
  /// The thread on which the handle is changing the document right now, else 0.
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

  /// Runs `body` without noticing its changes: the caller handles them.
  func ignoring<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = changingThread.exchange(Self.thisThread, ordering: .relaxed)
    defer { changingThread.store(before, ordering: .relaxed) }
    return try body()
  }

  /// Whether the document has changed since the last `settle`.
  var hasNews: Bool { isDirty.load(ordering: .acquiring) }

  /// Call when everything up to now is handled.
  func settle() { isDirty.store(false, ordering: .releasing) }
}
