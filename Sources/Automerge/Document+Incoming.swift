import Foundation

/// Taking in what was read elsewhere.
extension Document {
  /// What came of a portion.
  package struct Intake {
    /// What it did to texts.
    package var edits: [TextEdit]
    /// Why something of it was not taken, the first of it.
    package var fault: LoadError?
  }

  /// Takes in a portion of a peer's message. What `filter`, which has been widened, leaves out is as if it had not been sent.
  package func takeIn(
    _ portion: ChangePortion, of incoming: IncomingMessage, filter: inout AuthorFilter
  ) -> Intake {
    var optional: AuthorFilter? = filter
    defer { filter = optional ?? filter }
    return replacingCore { core in
      var edits: TextEditCollector? = TextEditCollector()
      do throws(LoadError) {
        core = try core.take(portion, edits: &edits, filter: &optional)
        // The filter has it as its fault.
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

  /// Notes what the peer has said besides, once all portions of its message have been taken in.
  ///
  /// Throws `LoadError` if nothing in it was good.
  package func finish(_ incoming: IncomingMessage, state: SyncState) throws {
    if let error = incoming.firstError, !incoming.isAnyGood { throw error }
    replacingCore { core in
      core.commitPending()
      var history = SyncedHistory(core: core, edits: nil, filter: nil)
      state.progress.withLock { $0.noteTaken(incoming.header, into: &history) }
    }
  }

  /// Call when the caller has stored what is in the document now: the next `encodeNewChanges` begins after it.
  package func noteStored() { withCore { $0.firstNewRow = $0.graph.count } }

  /// Why something of a message was not taken; nil if all of it was good.
  package func fault(of incoming: IncomingMessage) -> LoadError? { incoming.firstError }

  /// How many bytes all text has that was ever written in it.
  package var textByteCount: Int { withCore { $0.bytes.bytes.count } }

  /// Whether there is no change in it yet, nor one that waits.
  package var isUntouched: Bool { withCore { $0.graph.count == 0 && $0.queue.isEmpty && $0.transaction == nil } }
}
