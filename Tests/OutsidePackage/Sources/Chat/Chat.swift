import Automerge
import AutomergeRepo
import Foundation
import PeerNetwork
import PeerTransport

/// chat NAME PASSCODE [URL [HOST:PORT]]: a chat of all terminals nearby that know the passcode.
@main struct Chat {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count > 2 else { return print("usage: chat NAME PASSCODE [URL [HOST:PORT]]") }

    let repo = Repo(sharePolicy: SharePolicy.agreeable)
    let nearby = PeerToPeerProvider(PeerToPeerProviderConfiguration(passcode: words[2]))
    await repo.add(nearby)
    try await nearby.startListening(as: words[1])
    if words.count > 4, let place = PeerAddress(words[4]) { try await nearby.connect(to: place) }

    let room: DocHandle
    if words.count > 3, let url = AutomergeURL(words[3]) {
      for await peers in await repo.peerUpdates() where !peers.isEmpty { break }
      room = try await repo.find(url)
    } else {
      room = try await repo.create()
      try await room.change { _ = try $0.putObject(obj: .ROOT, key: "lines", ty: .List) }
      print("join with: chat NAME PASSCODE \(room.url) 127.0.0.1:\(await nearby.listening?.port ?? 0)")
    }
    guard case .Object(let lines, .List)? = try room.doc.get(obj: .ROOT, key: "lines") else { return }

    let updates = room.doc.updates()
    Task {
      var shown = 0
      for await _ in updates {
        let all = try room.doc.values(obj: lines)
        for case .Scalar(.String(let line)) in all.dropFirst(shown) { print(line) }
        shown = all.count
      }
    }
    // A thread of its own waits for each line, so that Swift's threads stay free.
    let read = { (next: CheckedContinuation<String?, Never>) in Thread { next.resume(returning: readLine()) }.start() }
    while let line = await withCheckedContinuation(read).map({ "\(words[1]): \($0)" }) {
      try await room.change { try $0.insert(obj: lines, index: $0.length(obj: lines), value: .String(line)) }
    }
    try await repo.shutDown()
  }
}
