import Automerge
import AutomergeRepo

/// Tells this person's other processes which notes' records have changed in the store, and is told the same by them.
///
/// The processes form a star: the hub passes messages on, so each process receives the news once. A process that has
/// just connected read the store some time ago, and the two ends do not see the connection at the same moment; so each
/// end tells the other what has changed lately.
@AutomergeRepo
final class RecordNews {
  private static let messageType = "notes-record"
  /// A process connects at most this long after it has read the store.
  private static let memory: Duration = .seconds(120)

  private let repo: Repo
  private let clock: any RepoClock
  /// When each document's record last changed, by the clock.
  private var changed: [DocumentId: Duration] = [:]
  /// Documents named before `begin`; nil from then on.
  private var early: Set<DocumentId>? = []
  /// Called when another process has stored a record of the document.
  private var onNews: ((DocumentId) -> Void)?

  init(repo: Repo, clock: any RepoClock) {
    (self.repo, self.clock) = (repo, clock)
    repo.onMessage(ofType: Self.messageType) { [weak self] fields, peer in self?.heard(fields, from: peer) }
    repo.observe { [weak self] event in
      if case .siblingConnected(let peer) = event { self?.tellWhatChangedLately(peer) }
    }
  }

  /// Call after reading the store: news that arrived meanwhile may be newer.
  func begin(_ onNews: @escaping (DocumentId) -> Void) {
    self.onNews = onNews
    let heard = early ?? []
    early = nil
    for id in heard { onNews(id) }
  }

  /// Call when this process has stored a record of the document.
  func tell(_ id: DocumentId) { tell(id, except: nil) }

  private func tell(_ id: DocumentId, except teller: PeerId?) {
    changed[id] = clock.now
    for sibling in repo.siblings where sibling != teller { send(id, to: sibling) }
  }

  private func tellWhatChangedLately(_ sibling: PeerId) {
    let limit = clock.now - Self.memory
    changed = changed.filter { $0.value > limit }
    for id in changed.keys { send(id, to: sibling) }
  }

  private func send(_ id: DocumentId, to sibling: PeerId) {
    repo.send(type: Self.messageType, fields: ["documentId": .text(id.description)], to: sibling)
  }

  /// Only siblings are believed.
  private func heard(_ fields: [String: CBOR], from sibling: PeerId) {
    guard repo.siblings.contains(sibling), let id = fields["documentId"]?.text.flatMap({ DocumentId($0) }) else {
      return
    }
    tell(id, except: sibling)
    if early?.insert(id) == nil { onNews?(id) }
  }
}
