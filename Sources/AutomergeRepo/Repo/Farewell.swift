import Automerge

/// The end of a repo's time on the network: waits until the connected peers have what is here.
@AutomergeRepo
final class Farewell {
  private unowned let repo: Repo
  private let reply: OneReply<Void>
  /// The documents of which a peer lacks something.
  private var open: Set<DocumentId> = []

  private init(_ repo: Repo, _ reply: OneReply<Void>) { (self.repo, self.reply) = (repo, reply) }

  /// Returns when every connected peer has the changes that it may have, or after `limit`.
  static func wait(of repo: Repo, within limit: Duration) async {
    for handle in repo.handles { handle.publishOutsideChanges() }
    var timer: (any ScheduledAction)?
    await OneReply<Void>.wait(otherwise: ()) { reply in
      let farewell = Farewell(repo, reply)
      for handle in repo.handles { farewell.look(at: handle) }
      guard !farewell.open.isEmpty, limit > .zero else { return reply.resume(returning: ()) }
      repo.upkeep.farewell = farewell
      timer = repo.clock.schedule(after: limit) { reply.resume(returning: ()) }
    }
    timer?.cancel()
    repo.upkeep.farewell = nil
  }

  /// Call when something has happened to a document.
  func documentUsed(_ id: DocumentId) {
    guard let handle = repo.handle(of: id) else { return }
    look(at: handle)
    if open.isEmpty { reply.resume(returning: ()) }
  }

  private func look(at handle: DocHandle) {
    if Self.peersHaveAll(of: handle) { open.remove(handle.id) } else { open.insert(handle.id) }
  }

  /// Whether no peer waits for something that is here: each has our heads, lacks the document because it does not want
  /// it, refuses our changes, or gets them from a relay.
  private static func peersHaveAll(of handle: DocHandle) -> Bool {
    let heads = handle.currentHeads, links = handle.sync.links
    return links.indices.allSatisfy { index in
      links[index].heads == heads || links[index].isLacking || handle.isRefused(at: index, heads)
        || handle.idlePeers.contains(links[index].peer)
    }
  }
}
