import Automerge
import AutomergeRepo

/// This person as the author of changes: their name, and the actors that this process writes as.
@AutomergeRepo
final class LocalAuthor {
  private(set) var identity: Service.Identity
  let nameKeeper: NameKeeper
  /// The documents in which this process's actor was used.
  private var writtenIn: Set<DocumentId> = []

  init(_ identity: Service.Identity, _ nameKeeper: NameKeeper) {
    (self.identity, self.nameKeeper) = (identity, nameKeeper)
  }

  func rename(_ name: String) { identity.name = name }

  /// The actor for writing a document, never the same one twice. A document that was removed here and arrives again
  /// from a peer contains changes of ours that we no longer know. If its author were our present actor, they would look
  /// forged, and a new change could get the number of an old one.
  func actor(for document: DocumentId) -> ActorId {
    writtenIn.insert(document).inserted ? identity.actor : newActor()
  }

  func newActor() -> ActorId { ActorId(data: identity.actor.data.prefix(8) + ActorId().data.suffix(8)) ?? ActorId() }

  /// Call when a document is about to arrive that has changes of this process's actor: a new actor will write in it.
  func reserve(_ document: DocumentId) { writtenIn.insert(document) }

  func isOwn(_ actor: ActorId) -> Bool { NoteAuthors.person(of: actor) == identity.person }
}
