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

  /// How many edits of its text the reader was told of.
  private var editCount = 0
  private let ownTime = Self.timeOfLooking()

  /// Makes the two and has them agree that there is a text.
  init() throws { try self.init(writer: WrittenText(), reader: Document()) }

  /// Has the two agree on what they have.
  init(writer: WrittenText, reader: Document) throws {
    (self.writer, self.reader) = (writer, reader)
    while true {
      let there = writer.document.generateSyncMessage(state: writers)
      if let there { try reader.receiveSyncMessage(state: readers, message: there) }
      let back = reader.generateSyncMessage(state: readers)
      if let back { try writer.document.receiveSyncMessage(state: writers, message: back) }
      if there == nil, back == nil { return }
    }
  }

  mutating func type(_ trace: EditingTrace) throws {
    let now = Date(), writer = writer
    var first = 0
    for end in trace.ends {
      let patches = trace.patches[first..<end]
      try press(at: now) { for patch in patches { try writer.apply(patch) } }
      first = end
    }
    guard editCount > 0 else { throw TraceError.otherText(trace.name) }
    try WrittenText(document: reader).check(trace)
  }

  /// One keystroke, which `edit` makes in the writer's document.
  mutating func press(at now: Date, _ edit: () throws -> Void) throws {
    let start = Self.threadTime()
    try edit()
    writer.document.commitWith(timestamp: now)
    let heads = writer.document.heads()
    let message = writer.document.generateSyncMessage(state: writers)
    sending += Self.threadTime() - start - ownTime
    guard let message else { return }
    let begin = Self.threadTime()
    editCount += try reader.receiveSyncMessageWithTextEdits(state: readers, message: message).count
    let readersHeads = reader.heads()
    if let answer = reader.generateSyncMessage(state: readers) {
      _ = try writer.document.receiveSyncMessageWithTextEdits(state: writers, message: answer)
    }
    receiving += Self.threadTime() - begin - ownTime
    guard readersHeads == heads else { throw TraceError.otherText("the writer's document") }
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
