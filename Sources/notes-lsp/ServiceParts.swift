import Automerge
import AutomergeRepo
import Foundation
import NotesServer
import PeerNetwork
import PeerTransport
import SQLiteStorage
import Store
import UV

/// The parts of a person's service, with or without an editor: first the person's key, name and grants, from which the
/// repo and the service are then made.
@AutomergeRepo
struct ServiceParts {
  let identity: PeerTransport.Identity
  let person: PersonName
  let grants: Grants
  /// The store of the person's data and of the notes.
  let storage: SQLiteStore
  private let home: String
  private let isRenamed: Bool
  private let clock: LoopClock

  /// - Parameter name: the person's name from an option; `login` is used if there is no other name
  static func load(
    from storage: SQLiteStore, home: String, name: String?, login: String, clock: LoopClock
  ) async throws -> ServiceParts {
    let identity = try IdentityFile(path: home + "/identity.pem").load()
    let (person, isRenamed) = try await PersonName.load(from: storage, option: name, login: login)
    return ServiceParts(
      identity: identity, person: person, grants: try await Grants.load(from: storage), storage: storage, home: home,
      isRenamed: isRenamed, clock: clock)
  }

  /// - Parameter documents: the store of the documents, which need not be the person's own
  func repo(documents: any StorageProvider, policy: any ShareAuthorizing) -> Repo {
    Repo(
      peerId: identity.peerId, metadata: PeerMetadata(name: person.name), storage: documents, sharePolicy: policy,
      clock: clock)
  }

  func service(of repo: Repo, sharing: SharingAdapter, folder: NotesFolder) -> Service {
    let own = Service.Identity(identity, name: person.name)
    let service = Service(
      repo: repo, storage: storage, sharing: sharing, files: WorkingFileAdapter(home: home), clock: clock,
      folder: folder, identity: own, name: person,
      journal: JournalFiles(home: home, run: own.actor.hexadecimal), unsent: UnsentFiles(home: home))
    if isRenamed { service.keepName() }
    return service
  }

  /// Starts to share everything with the other processes of this store.
  func joinSiblings(_ repo: Repo, of service: Service, on loop: Loop) throws(UVError) -> UnixSocketProvider {
    let siblings = try UnixSocketProvider(home: home, loop: loop, clock: clock)
    service.seeksSiblings()
    siblings.onHub = { [weak service] in service?.becameHub() }
    repo.add(siblings)
    return siblings
  }
}

extension Service.Identity {
  /// This person in this process, with an actor id that no other process uses, not even this one after a crash and
  /// restart.
  fileprivate init(_ identity: PeerTransport.Identity, name: String) {
    let person = Array(identity.fingerprint.prefix(PeerTransport.Identity.personByteCount))
    var random = SystemRandomNumberGenerator()
    let run = (0..<8).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    self.init(
      peer: identity.peerId, name: name,
      person: hexadecimal(person),
      actor: ActorId(data: Data(person + run)) ?? ActorId())
  }
}
