import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport

/// The faults between the steps. All of them end before the texts have to become equal.
extension Simulation {
  func prepareFaults() {
    guard !injector.kinds.isEmpty else { return }
    network.isLost = { [injector] _, sender, receiver in
      injector.lostWays.contains(FaultInjector.Way(sender: sender, receiver: receiver))
    }
    network.isHeldUntil = { [weak self] sender, receiver in
      guard let self else { return nil }
      let wakesAt = self.people.first { PeerId($0.name) == receiver }?.clock.wakesAt
      let arrives = self.injector.heldWays[FaultInjector.Way(sender: sender, receiver: receiver)] ?? .zero
      return arrives > self.clock.now ? max(arrives, wakesAt ?? arrives) : wakesAt
    }
    for person in people {
      person.onStored = { [weak self, weak person] service in
        guard let self, let person else { return }
        self.injector.isStored(
          service.documentText(self.id), in: service.buffer, for: person.name, authors: self.authors,
          deleted: self.deleted)
      }
    }
  }

  func inject() {
    guard let fault = injector.draw() else { return }
    let person = people[injector.below(people.count)]
    guard person.clock.wakesAt == nil, cause(fault, person) else { return }
    note("\(fault.rawValue) at \(person.name)")
    report.faults[fault, default: 0] += 1
  }

  /// Causes a fault, if it can happen now; returns whether it did.
  private func cause(_ fault: Fault, _ person: SimulatedPerson) -> Bool {
    switch fault {
    case .oneWayLoss: lose(from: person)
    case .delay: delay(from: person)
    case .resending: resend(person)
    case .sleep: sleep(person)
    case .clockJump: jump(person)
    case .slowEditor: slow(person)
    case .hungEditor: hang(person)
    case .failingDisk: fail(person.disk)
    case .powerLoss: loseFlow(of: person)
    case .stranger: bother(person)
    case .undo: undo(person)
    }
  }

  // MARK: Networks

  private func way(from person: SimulatedPerson) -> FaultInjector.Way {
    let others = people.filter { $0 !== person }
    let receiver = others[injector.below(others.count)]
    return FaultInjector.Way(sender: PeerId(person.name), receiver: PeerId(receiver.name))
  }

  private func lose(from person: SimulatedPerson) -> Bool {
    let way = way(from: person)
    guard network.isConnected(way.sender, way.receiver), injector.lostWays.insert(way).inserted else { return false }
    clock.schedule(after: injector.duration()) { [weak self] in self?.endLoss(way) }
    return true
  }

  /// A connection delivers nothing after a gap, so it has ended by now.
  private func endLoss(_ way: FaultInjector.Way) {
    guard injector.lostWays.remove(way) != nil else { return }
    network.disconnect(way.sender, way.receiver)
  }

  private func delay(from person: SimulatedPerson) -> Bool {
    let way = way(from: person)
    guard network.isConnected(way.sender, way.receiver) else { return false }
    injector.heldWays[way] = clock.now + injector.duration()
    return true
  }

  private func resend(_ person: SimulatedPerson) -> Bool {
    let way = way(from: person)
    guard network.isConnected(way.sender, way.receiver) else { return false }
    network.disconnect(way.sender, way.receiver)
    connect()
    return true
  }

  private func bother(_ person: SimulatedPerson) -> Bool {
    guard person.hasNetwork, let note = DocumentId(id) else { return false }
    let stranger = injector.stranger ?? Stranger(network)
    injector.stranger = stranger
    stranger.bother(PeerId(person.name), about: note, injector)
    return true
  }

  // MARK: Machines

  private func sleep(_ person: SimulatedPerson) -> Bool {
    let isMissed = injector.below(2) == 0
    person.clock.fallAsleep(for: injector.duration()) { [weak self] in
      // The others have noticed, and have ended their connections.
      if isMissed { self?.network.disconnectAll(of: PeerId(person.name)) }
    }
    return true
  }

  private func jump(_ person: SimulatedPerson) -> Bool {
    let longest = 365.0 * 86_400
    person.clock.calendarError =
      longest * pow(Double(injector.below(1_000)) / 1_000, 4) * (injector.below(2) == 0 ? 1 : -1)
    return true
  }

  private func fail(_ disk: SimulatedDisk) -> Bool {
    guard disk.failure == nil else { return false }
    (disk.failure, disk.takesJournals) =
      [(.full, false), (.failed(operation: "write", code: EIO), false), (.busy, true)][injector.below(3)]
    clock.schedule(after: injector.duration()) { disk.failure = nil }
    return true
  }

  // MARK: Editors

  private func someService(of person: SimulatedPerson) -> SimulatedService? {
    let shown = person.services.filter { $0.buffer != nil }
    return shown.isEmpty ? nil : shown[injector.below(shown.count)]
  }

  private func slow(_ person: SimulatedPerson) -> Bool {
    guard let service = someService(of: person) else { return false }
    service.slowness = .milliseconds(injector.below(500))
    clock.schedule(after: injector.duration()) { service.slowness = .zero }
    return true
  }

  private func hang(_ person: SimulatedPerson) -> Bool {
    guard let service = someService(of: person) else { return false }
    service.hang(for: injector.duration())
    return true
  }

  /// What this person, or a program on this person's machine, has written or deleted so far may be undone now; what
  /// other people wrote may not.
  private func undo(_ person: SimulatedPerson) -> Bool {
    guard let service = someService(of: person), let buffer = service.buffer else { return false }
    let (typed, removed) = (
      words.filter { authors[$0] == person.name || injector.machines[$0] == person.name },
      deleted.filter { injector.deleters[$0] == person.name }
    )
    injector.excuse(typed.union(removed))
    words.subtract(typed)
    deleted.subtract(removed)
    buffer.flush()
    _ = service.request(
      "notes/undo",
      ["uri": .string(buffer.uri), "version": JSONValue(buffer.version), "rev": JSONValue(buffer.rev)])
    return true
  }

  // MARK: The end

  /// Ends all faults.
  func endFaults() async {
    guard !injector.kinds.isEmpty else { return }
    for way in injector.lostWays { endLoss(way) }
    injector.heldWays = [:]
    for person in people {
      person.disk.failure = nil
      for service in person.services { service.slowness = .zero }
    }
    if let stranger = injector.stranger { network.disconnectAll(of: stranger.peer) }
    let awakeAt = people.compactMap(\.clock.wakesAt).max() ?? clock.now
    await pass(max(.zero, awakeAt - clock.now))
    while people.flatMap(\.services).contains(where: \.editorIsBehind)
      || orphans.contains(where: \.service.editorIsBehind)
    { await pass(.milliseconds(50)) }
  }
}
