import Automerge
import Foundation

/// Two replicas in sync, one of which types a trace, as people do who write together: each keystroke is a message for the other at
/// once, and is received and answered before the next one. Nothing is put off, so nothing is saved by doing several at once.
struct LiveKeystrokes {
  private let writer: WrittenText
  private let reader: Document
  private let writers = SyncState()
  private let readers = SyncState()
  /// Nanoseconds of processor time. Sending is the edits, the commit, the heads, and the message; receiving is taking it in with
  /// the edits that it makes of the text, the heads there, and the answer made and taken.
  private(set) var sending = 0
  private(set) var receiving = 0

  /// Makes the two and has them agree that there is a text.
  init() throws {
    writer = try WrittenText()
    reader = Document()
    while true {
      let there = writer.document.generateSyncMessage(state: writers)
      if let there { try reader.receiveSyncMessage(state: readers, message: there) }
      let back = reader.generateSyncMessage(state: readers)
      if let back { try writer.document.receiveSyncMessage(state: writers, message: back) }
      if there == nil, back == nil { return }
    }
  }

  mutating func type(_ trace: EditingTrace) throws {
    let now = Date(), ownTime = Self.timeOfLooking()
    var (first, editCount) = (0, 0)
    for end in trace.ends {
      let start = Self.threadTime()
      for patch in first..<end { try writer.apply(trace.patches[patch]) }
      writer.document.commitWith(timestamp: now)
      let heads = writer.document.heads()
      let message = writer.document.generateSyncMessage(state: writers)
      let sent = Self.threadTime()
      sending += sent - start - ownTime
      first = end
      guard let message else { continue }
      let begin = Self.threadTime()
      editCount += try reader.receiveSyncMessageWithTextEdits(state: readers, message: message).count
      let readersHeads = reader.heads()
      if let answer = reader.generateSyncMessage(state: readers) {
        _ = try writer.document.receiveSyncMessageWithTextEdits(state: writers, message: answer)
      }
      receiving += Self.threadTime() - begin - ownTime
      guard readersHeads == heads else { throw TraceError.otherText(trace.name) }
    }
    guard editCount > 0 else { throw TraceError.otherText(trace.name) }
    try WrittenText(document: reader).check(trace)
  }

  /// What looking at the clock adds to what is measured.
  private static func timeOfLooking() -> Int {
    let count = 10_000, start = threadTime()
    for _ in 0..<count { _ = threadTime() }
    return (threadTime() - start) / count
  }

  /// Nanoseconds for which this thread has had the processor.
  private static func threadTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
