import AutomergeRepo
import Foundation
import Logging

/// Keeps this person's name: stores it, and tells it to their other processes, one of which has the network.
@AutomergeRepo
final class NameKeeper {
  private static let messageType = "notes-name"

  private(set) var person: PersonName
  /// Called with the new name when it has changed.
  var onChange: ((String) -> Void)?
  /// Called whenever it is set whether this person wants to be visible on the local network.
  var onVisibility: ((Bool) -> Void)?
  private let repo: Repo
  private let storage: any StorageProvider
  private let log = Logger(label: "name")
  /// Stores the name until the latest one is stored.
  private var storing: Task<Void, Never>?
  private var isDue = false
  private var hasBegun = false

  init(_ person: PersonName, repo: Repo, storage: any StorageProvider) {
    (self.person, self.repo, self.storage) = (person, repo, storage)
    repo.onMessage(ofType: Self.messageType) { [weak self] fields, peer in self?.heard(fields, from: peer) }
    repo.observe { [weak self] event in
      // Either process may have stored a new name before it saw the connection, so that it told no other.
      guard case .siblingConnected(let peer) = event else { return }
      self?.repo.send(type: Self.messageType, fields: [:], to: peer)
      self?.readAgain()
    }
  }

  /// Returns when the name is stored and the other processes know it, because a command exits directly afterwards.
  ///
  /// - Parameter isHidden: whether this person wants to be hidden on the local network; nil leaves this unchanged
  func choose(_ name: String, isHidden: Bool? = nil) async {
    var new = person
    guard new.choose(name) else { return }
    new.isHidden = isHidden ?? new.isHidden
    take(new)
    keep()
    await settle()
  }

  func set(_ name: String, by source: PersonName.Source) {
    var new = person
    guard new.set(name, by: source) else { return }
    take(new)
    keep()
  }

  /// Stores the name and tells the other processes, from `begin` on. Names are stored one after another, because two
  /// concurrent writes may arrive in either order, so that the older name could stay.
  func keep() {
    isDue = true
    guard hasBegun, storing == nil else { return }
    storing = Task { @AutomergeRepo in
      while isDue {
        isDue = false
        let record = person.record
        do {
          try await storage.saveRecord(record, at: PersonName.storageKey)
        } catch {
          log.warning("Your name could not be stored: \(error)")
        }
        tell(record, except: nil)
      }
      storing = nil
    }
  }

  /// Call when the process has started. A name that is set before can wait, and the start does not wait for its
  /// storing.
  func begin() {
    hasBegun = true
    if isDue { keep() }
  }

  /// Returns when every name set so far is stored, or could not be. Call before the process ends.
  func settle() async {
    begin()
    await storing?.value
  }

  private func take(_ new: PersonName) {
    let isOther = new.name != person.name
    person = new
    if isOther { onChange?(new.name) }
    onVisibility?(!new.isHidden)
  }

  private func tell(_ record: CBOR, except teller: PeerId?) {
    for sibling in repo.siblings where sibling != teller {
      repo.send(type: Self.messageType, fields: ["record": .bytes(Data(record.encoded()))], to: sibling)
    }
  }

  /// Only siblings are trusted. They form a star, so a message that is passed on reaches each of them once. Without a
  /// record, the store must be read again.
  private func heard(_ fields: [String: CBOR], from sibling: PeerId) {
    guard repo.siblings.contains(sibling) else { return }
    guard let bytes = fields["record"]?.bytes else { return readAgain() }
    guard let record = try? CBOR(bytes, limits: .stored) else { return }
    tell(record, except: sibling)
    take(record)
  }

  private func take(_ record: CBOR) {
    var new = person
    new.take(record)
    take(new)
  }

  private func readAgain() {
    Task { @AutomergeRepo in
      await settle()
      let before = person
      do {
        // A name set meanwhile is newer than the stored one.
        guard let record = try await storage.record(at: PersonName.storageKey), person == before else { return }
        take(record)
        // The other processes of the star are connected to only one of us.
        if person != before { tell(record, except: nil) }
      } catch {
        log.warning("Your name could not be read: \(error)")
      }
    }
  }
}
