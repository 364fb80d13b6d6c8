import Foundation
import Testing

@testable import NotesServer

/// Whether a file that another program has written counts as finished.
struct SettledFileTests {
  private let start = Date(timeIntervalSince1970: 1_000_000)

  /// - Parameters: seconds since the start: when the file was written, and when reading it began and ended.
  private func rest(written: TimeInterval, read first: TimeInterval, _ last: TimeInterval, byteCount: Int = 3)
    -> Double?
  {
    let nanoseconds = Int(((start.timeIntervalSince1970 + written) * 1e9).rounded())
    let mark = FileMark(inode: 1, byteCount: byteCount, nanoseconds: nanoseconds)
    return mark.timeUntilSettled(readFrom: start + first...start + last).map { ($0 * 1000).rounded() / 1000 }
  }

  @Test func itIsALittleAfterItWasWritten() {
    #expect(rest(written: 0, read: 0.1, 0.1) == 0.1)
    #expect(rest(written: 0, read: 0.3, 0.3) == nil)
    #expect(rest(written: 0, read: 0.3, 0.3, byteCount: 0) == 9.7)
    #expect(rest(written: 0, read: 11, 11, byteCount: 0) == nil)
  }

  @Test func aFileFromAMachineWhoseClockIsAheadIs() {
    #expect(rest(written: 60, read: 0, 0.1) == nil)
    #expect(rest(written: 1, read: 0, 0.1) == 1.2)
  }

  /// On a very busy machine, reading a file may take seconds.
  @Test func oneThatWasWrittenWhileItWasReadIsNot() {
    #expect(rest(written: 5, read: 0, 5.1) == 2)
  }
}
