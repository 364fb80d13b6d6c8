import Foundation
import Testing
import UV

/// What a program shows of an error that it knows only as an `Error`.
struct ErrorMessageTests {
  @Test func errorsSayWhatIsWrong() {
    let errors: [any Error] = [
      UVError.brokenPipe, ConnectError.timedOut(host: "here", port: 7), WriteError.failed(.brokenPipe),
      WriteError.closed, WriteError.queueFull(queuedByteCount: 9, limit: 8),
    ]
    #expect(
      errors.map(\.localizedDescription) == [
        "broken pipe", "here port 7 does not answer", "broken pipe", "the connection is closed",
        "the other side reads too slowly: 9 bytes of at most 8 wait already",
      ])
  }
}
