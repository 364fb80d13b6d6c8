import AutomergeRepo
import Foundation
import UV

/// `websocket-peer`: hosts peers of ours and does what each line of standard input says. The commands are those of
/// `websocket_peer.py`, so that the tests drive both in the same way.
@main
struct WebSocketPeer {
  static func main() async throws {
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    try loop.runOnNewThread()
    while let line = readLine() {
      FileHandle.standardOutput.write(Data((await answer(line, on: loop) + "\n").utf8))
    }
  }

  @AutomergeRepo private static var peers: [String: InteropPeer] = [:]

  @AutomergeRepo
  private static func answer(_ line: String, on loop: Loop) async -> String {
    // The executor may take over a moment after it was installed.
    while !loop.isOnLoop { await Task.yield() }
    var answer: [String: Any] = [:]
    do {
      let command = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      let (what, name) = (command["do"] as? String ?? "", command["peer"] as? String ?? "")
      if what == "start" {
        peers[name] = InteropPeer(name, trusting: command["authority"] as? String, on: loop)
      } else {
        answer = try await peers[name]?.perform(what, command) ?? [:]
        if what == "stop" { peers[name] = nil }
      }
    } catch {
      answer = ["error": "\(error)"]
    }
    let bytes = try? JSONSerialization.data(withJSONObject: answer)
    return String(decoding: bytes ?? Data("{}".utf8), as: UTF8.self)
  }
}
