import Automerge
import AutomergeRepo

/// This person as the author of changes: their name, and the actors that this process writes as.
@AutomergeRepo
final class LocalAuthor {
  private(set) var identity: Service.Identity
  let nameKeeper: NameKeeper
  /// The documents that this process's actor was used for.
  private var writtenIn: Set<DocumentId> = []

  init(_ identity: Service.Identity, _ nameKeeper: NameKeeper) {
    (self.identity, self.nameKeeper) = (identity, nameKeeper)
  }

  func rename(_ name: String) { identity.name = name }

  /// The actor to write a document as, never the same one twice. A document that was removed and comes again from a peer brings
  /// changes of ours that we no longer have; under the same actor they would look forged, and a new one could take the number
  /// of an old one.
  func actor(for document: DocumentId) -> ActorId {
    writtenIn.insert(document).inserted ? identity.actor : newActor()
  }

  func newActor() -> ActorId { ActorId(data: identity.actor.data.prefix(8) + ActorId().data.suffix(8)) ?? ActorId() }

  /// A document is about to arrive that has changes of this process's actor: it will be written in by a new one.
  func reserve(_ document: DocumentId) { writtenIn.insert(document) }

  func isOwn(_ actor: ActorId) -> Bool { NoteAuthors.person(of: actor) == identity.person }
}
