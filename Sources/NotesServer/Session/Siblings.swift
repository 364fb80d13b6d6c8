import AutomergeRepo
import Logging

/// This person's other processes: what they store, which documents they have, and their requests.
///
/// Nothing is polled: code that waits for them checks again when one of them connects, when a document arrives, or when
/// one says that it has stored a record.
@AutomergeRepo
final class Siblings {
  /// How long to wait for what another process has stored or sent already.
  private static let maximumDelay: Duration = .seconds(2)
  /// How long to wait for a document that another process is about to have.
  private static let maximumSearch: Duration = .seconds(1)
  /// How long a process that has just become the hub waits for others to find it.
  private static let introductionTime: Duration = .milliseconds(300)

  let requests: SiblingRequests
  let events: SiblingEvents
  let twins: BufferTwins
  private let environment: ServiceEnvironment
  private let recordNews: RecordNews
  /// Sent when a search may have another outcome.
  private let news: Signal
  /// Whether this process connects to the others, and whether it has become their hub.
  private var (seeks, isHub) = (false, false)
  private let log = Logger(label: "siblings")

  private var repo: Repo { environment.repo }

  init(_ environment: ServiceEnvironment) {
    self.environment = environment
    let (repo, clock) = (environment.repo, environment.clock)
    requests = SiblingRequests(repo: repo, sharing: environment.sharing, clock: clock)
    events = SiblingEvents(repo: repo, clock: clock)
    twins = BufferTwins(repo: repo, clock: clock)
    recordNews = RecordNews(repo: repo, clock: clock)
    news = Signal(clock: clock)
    environment.events.add { [requests] event in
      if case .sharingChanged(.networkState) = event { requests.networkArrived() }
    }
    events.onEvent = { [events = environment.events] event in events.send(.heardFromSibling(event)) }
    repo.observe { [weak self] event in
      switch event {
      case .peerConnected, .siblingConnected, .documentOpened: self?.news.send()
      case .peerDisconnected, .siblingDisconnected, .documentDeleted, .documentReleased: break
      }
    }
  }

  // MARK: Connecting

  /// Call when this process starts to connect to the others.
  func seek() { seeks = true }

  /// Call when this process is the one that the others connect to.
  func becameHub() {
    isHub = true
    news.send()
  }

  /// Whether this process has found this person's others, or knows that it is the first.
  private var isSettled: Bool { !seeks || isHub || !repo.siblings.isEmpty }

  /// Returns when the other processes, if any, are connected. A process that has just become their hub gives them a moment to
  /// find it.
  func settle() async {
    await news.wait(within: Self.maximumDelay) { isSettled }
    await news.wait(within: Self.introductionTime) { !repo.siblings.isEmpty }
  }

  /// The same before a request that only the process with the network can carry out: if there is one, it may take long to
  /// connect.
  func settleForNetwork() async {
    await settle()
    let end = environment.clock.now + SiblingRequests.maximumAcceptance
    while repo.siblings.isEmpty, environment.sharing.isNetworkElsewhere, environment.clock.now < end {
      await news.next(after: news.count, until: min(end, environment.clock.now + SiblingRequests.maximumSearch))
    }
  }

  // MARK: Records

  /// Call when the store has been read.
  func begin() { recordNews.begin { [weak self] id in self?.readAgain(id) } }

  /// Call when this process has stored a record of the document.
  func stored(_ id: DocumentId) { recordNews.tell(id) }

  /// Reads what other processes have stored of the notes that are open here: one that has ended may not have reported
  /// it.
  func readOpenNotesAgain() {
    for id in environment.openNotes.documents.sorted(by: { $0.description < $1.description }) { readAgain(id) }
  }

  /// Call when a process has ended: takes into the notes that are open here what it has stored or journaled and not sent.
  func takeOverOpenNotes() {
    for id in environment.openNotes.documents.sorted(by: { $0.description < $1.description }) {
      guard let handle = repo.handle(of: id) else { continue }
      Task { @AutomergeRepo in
        do {
          _ = try await environment.catchUp(handle)
        } catch {
          log.warning("What another process left of \(id) could not be read: \(error)")
        }
      }
    }
  }

  /// Call when another process has stored a record of the document.
  private func readAgain(_ id: DocumentId) {
    Task { @AutomergeRepo in
      do {
        try await environment.notebook.refresh(id)
        await refreshAccess()
        environment.events.send(.recordRead(id))
      } catch {
        log.warning("What another process knows of \(id) could not be read: \(error)")
      }
    }
  }

  /// Reads the grants again, which the process with the network has stored.
  func refreshAccess() async {
    await environment.sharing.refresh()
    news.send()
  }

  /// Returns when this process knows the grants that the process with the network has stored; or after a while.
  func learnAccess(to id: DocumentId, saidToBe access: Access?) async {
    await environment.sharing.refresh()
    guard let access else { return }
    await news.wait(within: Self.maximumDelay) { environment.sharing.access(to: id) == access }
    if environment.sharing.access(to: id) != access { await environment.sharing.refresh() }
  }

  // MARK: Documents

  /// Looks for a document, also at processes that are just being found, or are about to have the document themselves.
  func find(_ id: DocumentId) async -> FindOutcome {
    var outcome = await repo.search(id)
    guard case .unavailable = outcome else { return outcome }
    await settle()
    let end = environment.clock.now + Self.maximumSearch
    while !repo.siblings.isEmpty {
      let count = news.count
      outcome = await repo.search(id)
      guard case .unavailable = outcome, environment.clock.now < end else { return outcome }
      await news.next(after: count, until: end)
    }
    return outcome
  }

  /// Returns when this process has read what the others wrote to the note's working file, and has the changes that it was made
  /// from; or after a while.
  func follow(to handle: DocHandle) async {
    do {
      try await handle.takeStored()
    } catch {
      log.warning("What other processes have stored of \(handle.id) could not be read: \(error)")
    }
    guard !repo.siblings.isEmpty else { return }
    let notebook = environment.notebook
    do {
      try await notebook.refresh(handle.id)
    } catch {
      log.warning("What other processes know of \(handle.id) could not be read: \(error)")
    }
    let records = [notebook[handle.id]].compactMap(\.self) + notebook.items(of: handle.id)
    let heads = Set(records.flatMap { $0.fileBase?.heads ?? [] })
    _ = await handle.has(heads, within: Self.maximumDelay, by: environment.clock)
  }
}
