import Automerge
import AutomergeRepo
import Foundation
import PeerNetwork
import PeerTransport
import WebSocketNetwork

/// chat NAME PASSCODE [URL] [HOST:PORT | ws://SERVER/]: a chat of all terminals that know the passcode, nearby or on a server.
@main struct Chat {
  static func main() async throws {
    let (name, words) = (CommandLine.arguments.dropFirst().first ?? "", CommandLine.arguments.dropFirst(3))
    guard let passcode = CommandLine.arguments.dropFirst(2).first else { return print("usage: chat NAME PASSCODE …") }

    let repo = Repo(sharePolicy: SharePolicy.agreeable)
    let (nearby, web) = (PeerToPeerProvider(.init(passcode: passcode)), try await WebSocketProvider())
    for network in [nearby, web] as [any NetworkProvider] { await repo.add(network) }
    let server = words.compactMap({ WebSocketURL($0) }).first
    if let server { await web.connect(to: server, token: passcode) } else { try await nearby.startListening(as: name) }
    if let place = words.compactMap({ PeerAddress($0) }).first { try await nearby.connect(to: place) }
    if !words.isEmpty { for await peers in await repo.peerUpdates() where !peers.isEmpty { break } }

    let url = words.compactMap({ AutomergeURL($0) }).first
    let room = if let url { try await repo.find(url) } else { try await repo.create() }
    if url == nil {
      try await room.change { _ = try $0.putObject(obj: .ROOT, key: "lines", ty: .List) }
      let here = "127.0.0.1:\(await nearby.listening?.port ?? 0)"
      print("join with: chat NAME PASSCODE \(room.url) \(words.first ?? here)")
    }
    guard case .Object(let lines, .List)? = try room.doc.get(obj: .ROOT, key: "lines") else { return }

    Task { [updates = room.doc.updates()] in
      var shown = 0
      for await _ in updates {
        let all = try room.doc.values(obj: lines)
        for case .Scalar(.String(let line)) in all.dropFirst(shown) { print(line) }
        shown = all.count
      }
    }
    // A thread of its own waits for each line, so that Swift's threads stay free.
    let read = { (next: CheckedContinuation<String?, Never>) in Thread { next.resume(returning: readLine()) }.start() }
    while let line = await withCheckedContinuation(read).map({ "\(name): \($0)" }) {
      try await room.change { try $0.insert(obj: lines, index: $0.length(obj: lines), value: .String(line)) }
    }
    try await repo.shutDown()
  }
}
