import Foundation
import TestSupport

/// A process that hosts peers, of this project or of another, and does what it is told by lines of JSON.
final class InteropProcess {
  struct Refused: Error, CustomStringConvertible {
    let command: String
    let answer: String
    var description: String { "\(command): \(answer)" }
  }

  struct State: Equatable {
    var heads: [String]?
    var text: String?
    /// The list `lines`, which peers in Python tell of.
    var lines: [String]?
    var heard: [String: Int]
    var peers: [String]
  }

  let name: String
  private let child: ChildProcess

  private init(_ name: String, _ command: [String]) throws {
    (self.name, child) = (name, try ChildProcess(command))
  }

  /// Peers of this project.
  static func ours() throws -> InteropProcess {
    guard let program else { throw CocoaError(.fileNoSuchFile) }
    return try InteropProcess("swift", [program])
  }

  /// Peers in Python, on the reference core.
  static func python() throws -> InteropProcess {
    guard let python = Reference.websocketPython else { throw CocoaError(.fileNoSuchFile) }
    return try InteropProcess("python", [python, script])
  }

  private static let script =
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "websocket_peer.py").path

  /// The program with our peers, beside this one; nil if it is not built.
  static let program: String? = {
    for candidate in CommandLine.arguments + [Bundle.main.bundlePath, Bundle.main.executablePath ?? ""] {
      var folder = URL(fileURLWithPath: candidate)
      for _ in 0..<4 {
        folder.deleteLastPathComponent()
        let path = folder.appendingPathComponent("websocket-peer").path
        if FileManager.default.isExecutableFile(atPath: path) { return path }
      }
    }
    return nil
  }()

  /// Has a peer do something and returns the answer.
  @discardableResult
  func tell(_ peer: String, _ what: String, _ fields: [String: Any] = [:]) throws -> JSON {
    let command = fields.merging(["do": what, "peer": peer]) { _, new in new }
    let line = try JSONSerialization.data(withJSONObject: command)
    child.write(Array(line) + [10])
    try child.wait(for: "an answer to \(what)", until: .now + Patience.hang) { $0.output.contains(10) }
    let answer = child.output.prefix { $0 != 10 }
    child.output.removeFirst(answer.count + 1)
    let json = try JSON.parse(Data(answer))
    if json["error"].string != nil {
      throw Refused(command: String(decoding: line, as: UTF8.self), answer: String(decoding: answer, as: UTF8.self))
    }
    return json
  }

  func state(of peer: String, _ document: String) throws -> State {
    let json = try tell(peer, "state", ["document": document])
    return State(
      heads: json["heads"].isNull ? nil : json["heads"].strings, text: json["text"].string,
      lines: json["lines"].isNull ? nil : json["lines"].strings,
      heard: json["heard"].members.mapValues { $0.int ?? 0 }, peers: json["peers"].strings)
  }
}
