import Automerge
import AutomergeRepo
import Foundation
import PeerNetwork
import PeerTransport

/// chat NAME PASSCODE [URL [HOST:PORT]]: a chat of all terminals nearby that know the passcode.
@main struct Chat {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().map { $0 }
    guard arguments.count >= 2 else { return print("usage: chat NAME PASSCODE [URL [HOST:PORT]]") }
    let (name, passcode) = (arguments[0], arguments[1])

    let repo = Repo(sharePolicy: SharePolicy.agreeable)
    let nearby = PeerToPeerProvider(PeerToPeerProviderConfiguration(passcode: passcode))
    await repo.add(nearby)
    try await nearby.startListening(as: name)
    if arguments.count > 3, let place = PeerAddress(arguments[3]) { try await nearby.connect(to: place) }

    let room: DocHandle
    if arguments.count > 2, let url = AutomergeURL(arguments[2]) {
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
      var shown: UInt64 = 0
      for await _ in updates {
        for value in try room.doc.values(obj: lines).dropFirst(Int(shown)) {
          if case .Scalar(.String(let line)) = value { print(line) }
        }
        shown = room.doc.length(obj: lines)
      }
    }
    while let line = await nextLine() {
      try await room.change {
        try $0.insert(obj: lines, index: $0.length(obj: lines), value: .String("\(name): \(line)"))
      }
    }
    try await repo.shutDown()
  }

  /// Waits for a line outside of Swift's thread pool.
  private static func nextLine() async -> String? {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: readLine()) }
    }
  }
}
