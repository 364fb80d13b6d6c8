import AutomergeRepo
import Foundation
import Logging

/// Keeps this person's name: stores it, and tells it to their other processes, of which one has the network.
@AutomergeRepo
final class NameKeeper {
  private static let messageType = "notes-name"
  /// A name of a setting is stored so much later: at a start the store has other things to do, and the setting says it again.
  private static let settingDelay: Duration = .milliseconds(250)

  private(set) var person: PersonName
  /// Called with the name when it is another one.
  var onChange: ((String) -> Void)?
  private let repo: Repo
  private let storage: any StorageProvider
  private let clock: any RepoClock
  private let log = Logger(label: "name")
  /// Stores the latest name, after all earlier ones.
  private var storing: Task<Void, Never>?
  /// Stores the name of a setting.
  private var timer: (any ScheduledAction)?

  init(_ person: PersonName, repo: Repo, storage: any StorageProvider, clock: any RepoClock) {
    (self.person, self.repo, self.storage, self.clock) = (person, repo, storage, clock)
    repo.onMessage(ofType: Self.messageType) { [weak self] fields, peer in self?.heard(fields, from: peer) }
    repo.observe { [weak self] event in
      // Either may have stored a new name before it saw the connection, and told no process.
      guard case .siblingConnected(let peer) = event else { return }
      self?.repo.send(type: Self.messageType, fields: [:], to: peer)
      self?.readAgain()
    }
  }

  /// Returns when the name is stored and the other processes are told: a command ends right after.
  func choose(_ name: String) async {
    var new = person
    guard new.choose(name) else { return }
    take(new)
    await keep().value
  }

  func set(_ name: String, by source: PersonName.Source) {
    var new = person
    guard new.set(name, by: source) else { return }
    take(new)
    keepSoon()
  }

  /// Stores a name that a setting gave, a little later.
  func keepSoon() {
    guard timer == nil else { return }
    timer = clock.schedule(after: Self.settingDelay) { [weak self] in self?.keep() }
  }

  /// Stores the name and tells the other processes of it. One is stored after the other: two writes at once may arrive in
  /// either order, and the older name would be the one that stays.
  @discardableResult
  private func keep() -> Task<Void, Never> {
    timer?.cancel()
    timer = nil
    let (record, earlier) = (person.record, storing)
    let task = Task { @AutomergeRepo in
      await earlier?.value
      do {
        try await storage.saveRecord(record, at: PersonName.storageKey)
      } catch {
        log.warning("Your name could not be stored: \(error)")
      }
      tell(record, except: nil)
    }
    storing = task
    return task
  }

  /// Returns when every name given so far is stored, or could not be. A process does not end before.
  func settle() async {
    if timer != nil { keep() }
    await storing?.value
  }

  private func take(_ new: PersonName) {
    let isOther = new.name != person.name
    person = new
    if isOther { onChange?(new.name) }
  }

  private func tell(_ record: CBOR, except teller: PeerId?) {
    for sibling in repo.siblings where sibling != teller {
      repo.send(type: Self.messageType, fields: ["record": .bytes(Data(record.encoded()))], to: sibling)
    }
  }

  /// Only siblings are believed. They are a star, so what is passed on reaches each of them once. Without a record it is time to
  /// read the store again.
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
        // A name that was given meanwhile is newer than what was read.
        guard let record = try await storage.record(at: PersonName.storageKey), person == before else { return }
        take(record)
        // The others of the star are connected to one of us only.
        if person != before { tell(record, except: nil) }
      } catch {
        log.warning("Your name could not be read: \(error)")
      }
    }
  }
}

extension Service {
  /// Stores a name that an option gave, and tells the other processes of it.
  public func keepName() { nameKeeper.keepSoon() }

  /// Returns when every name given so far is stored.
  public func settleName() async { await nameKeeper.settle() }
}
