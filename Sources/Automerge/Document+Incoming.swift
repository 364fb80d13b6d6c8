import Foundation

/// Applying messages that were read on another thread.
extension Document {
  /// The result of applying a portion of a message.
  package struct Intake {
    /// The resulting edits of texts.
    package var edits: [TextEdit]
    /// The first error, if something was not applied.
    package var fault: LoadError?
  }

  /// Applies a portion of a peer's message. Ignores what `filter`, which has been widened, leaves out.
  package func takeIn(
    _ portion: ChangePortion, of incoming: IncomingMessage, filter: inout AuthorFilter
  ) -> Intake {
    var optional: AuthorFilter? = filter
    defer { filter = optional ?? filter }
    return replacingCore { core in
      var edits: TextEditCollector? = TextEditCollector()
      do throws(LoadError) {
        core = try core.take(portion, edits: &edits, filter: &optional)
        // The filter keeps it as its fault.
        core.equalActors = nil
        incoming.noteGood()
      } catch {
        incoming.note(error)
        return Intake(edits: edits?.edits ?? [], fault: error)
      }
      if let fault = optional?.fault { incoming.note(fault) }
      return Intake(edits: edits?.edits ?? [], fault: optional?.fault)
    }
  }

  /// Records the rest of a peer's message, once all its portions have been applied.
  ///
  /// Throws `LoadError` if nothing in the message was good.
  package func finish(_ incoming: IncomingMessage, state: SyncState) throws {
    if let error = incoming.firstError, !incoming.isAnyGood { throw error }
    replacingCore { core in
      core.commitPending()
      var history = SyncedHistory(core: core, edits: nil, filter: nil)
      state.progress.withLock { $0.noteTaken(incoming.header, into: &history) }
    }
  }

  /// Everything that is in the document now.
  package var historyMark: HistoryMark {
    withState { state in
      state.core.commitPending()
      return HistoryMark(state)
    }
  }

  /// The changes after a mark, as chunks; all, if some of those before it have been removed. Unlike `encodeNewChanges`, it does
  /// not depend on what others have encoded or saved.
  ///
  /// - Returns: with the chunks the heads, and the mark after them, of the same moment
  /// - Complexity: O(n) in these changes
  package func changes(after mark: HistoryMark) -> (chunks: Data, heads: Set<ChangeHash>, mark: HistoryMark) {
    withState { state in
      let core = state.core
      core.commitPending()
      let now = HistoryMark(state)
      let first = mark.removalCount == now.removalCount ? mark.changeCount : 0
      return (Data((first..<now.changeCount).flatMap { core.chunk(ofRow: $0) }), core.headSet, now)
    }
  }

  /// The whole document as a file, and the mark after what it contains.
  package func saveMarked() -> (data: Data, mark: HistoryMark) {
    withState { (Data($0.core.save()), HistoryMark($0)) }
  }

  /// Whether some changes wait for others that are missing.
  package var hasWaitingChanges: Bool { withCore { !$0.queue.isEmpty } }

  /// The first error of a message; nil if all of it was good.
  package func fault(of incoming: IncomingMessage) -> LoadError? { incoming.firstError }

  /// The size of all text that was ever written in the document, in bytes.
  package var textByteCount: Int { withCore { $0.bytes.bytes.count } }

  /// Whether the document has no change yet, not even one that waits for others.
  package var isUntouched: Bool { withCore { $0.graph.count == 0 && $0.queue.isEmpty && $0.transaction == nil } }
}

/// A prefix of a document's history, in the order in which this replica received the changes: what a store has, say.
package struct HistoryMark: Hashable, Sendable {
  package private(set) var changeCount = 0
  fileprivate var removalCount = 0

  /// Nothing of it.
  package init() {}

  fileprivate init(_ state: borrowing DocumentState) {
    (changeCount, removalCount) = (state.core.graph.count, state.removalCount)
  }
}
