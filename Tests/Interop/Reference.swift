import Foundation
import TestSupport

/// Where the reference implementation is: the Python package `automerge`, and the commands around it.
enum Reference {
  /// A Python that has the package: `$NOTES_TEST_PYTHON`, else the one that `make` installs. Nil without.
  static let python: String? = {
    let named = ProcessInfo.processInfo.environment["NOTES_TEST_PYTHON"]
    let installed = Vectors.packageRoot.appending(path: ".build-venv/bin/python").path
    for candidate in [named, installed].compactMap(\.self) {
      let check = try? ChildProcess.run([candidate, "-c", "from automerge import core; core.Document"])
      if check?.exit == .code(0) { return candidate }
    }
    return nil
  }()

  /// The same, if it has what a peer over WebSocket needs; nil otherwise.
  static let websocketPython: String? = python.flatMap { python in
    let check = try? ChildProcess.run([python, "-c", "import cbor2, websockets.asyncio.server"])
    return check?.exit == .code(0) ? python : nil
  }

  /// `oracle.py` of the shared vectors; nil without them.
  static let oracle = Vectors.shared?.appending(path: "vectors/oracle.py").path

  static let peerScript = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "reference_peer.py").path

  static let absence = "no Python with automerge==1.0.0rc1: set NOTES_TEST_PYTHON or run `make test`"

  static let websocketAbsence = "no Python with automerge, cbor2 and websockets, or websocket-peer is not built"

  struct Verdict {
    let json: JSON
    let errorOutput: String
  }

  /// Runs a command of `oracle.py` and reads the JSON it prints.
  static func ask(_ arguments: String...) throws -> Verdict {
    guard let python, let oracle else { throw CocoaError(.fileNoSuchFile) }
    let result = try ChildProcess.run([python, oracle] + arguments)
    return Verdict(
      json: try JSON.parse(Data(result.output)), errorOutput: String(decoding: result.errorOutput, as: UTF8.self))
  }
}
