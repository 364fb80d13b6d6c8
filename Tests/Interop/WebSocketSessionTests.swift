import Foundation
import TestSupport
import Testing

/// Our peers and peers that others could have written, in both roles. `NOTES_INTEROP_SESSIONS` asks for more sessions,
/// `NOTES_INTEROP_SEED` for one.
@Suite(
  .enabled(
    if: Reference.websocketPython != nil && InteropProcess.program != nil && TestAuthority.isAvailable,
    Comment(rawValue: Reference.websocketAbsence)
  ),
  .serialized)
struct WebSocketSessionTests {}

extension WebSocketSessionTests {
  private static let seeds: ClosedRange<UInt64> = {
    let environment = ProcessInfo.processInfo.environment
    if let one = environment["NOTES_INTEROP_SEED"].flatMap({ UInt64($0) }) { return one...one }
    let asked = environment["NOTES_INTEROP_SESSIONS"].flatMap { UInt64($0) }
    return 1...max(1, asked ?? 4)
  }()

  @Test func randomSessionsWithTheReferenceCoreEndInOneText() throws {
    let (ours, python) = (try InteropProcess.ours(), try InteropProcess.python())
    let authority = try TestAuthority(isSelfSigned: true)
    var (edits, connections, encrypted) = (0, 0, 0)
    for seed in Self.seeds {
      var session = try WebSocketSession(seed: seed, ours: ours, python: python, authority: authority)
      try session.run()
      edits += session.editCount
      connections += session.connectionCount
      encrypted += session.encryptedCount
    }
    print("\(Self.seeds.count) sessions, \(connections) kept connections, \(encrypted) by wss, \(edits) edits")
  }
}
