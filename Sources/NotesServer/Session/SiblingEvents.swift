import AutomergeRepo
import Foundation
import JSONRPC

/// Passes news of other people from the process with the network to the editors of this person's other processes.
///
/// The processes form a star: a process passes an event to all but its sender, so it reaches each process once.
/// Processes that are just being connected get the news later, if it changes what their editors show.
@AutomergeRepo
final class SiblingEvents {
  private static let type = "notes-event"
  /// For how long processes that are just being connected still get an event.
  private static let memory: Duration = .seconds(120)
  private static let maximumKept = 64

  private let repo: Repo
  private let clock: any RepoClock
  /// When this process began, in milliseconds: it has read what was stored by then.
  private let start: Int
  private var kept: [Kept] = []
  /// Called with the parameters of a `notes/event` from another process.
  var onEvent: (@AutomergeRepo (JSONValue) -> Void)?

  private struct Kept {
    let fields: [String: CBOR]
    let heard: Duration
  }

  init(repo: Repo, clock: any RepoClock) {
    (self.repo, self.clock, start) = (repo, clock, clock.date.milliseconds)
    repo.onMessage(ofType: Self.type) { [weak self] fields, peer in self?.heard(fields, from: peer) }
    repo.observe { [weak self] event in
      if case .siblingConnected(let peer) = event { self?.tellWhatIsKept(peer) }
    }
  }

  /// - Parameter isKept: whether a process that is not connected yet must get it later, because it changes what its
  ///   editor shows.
  func tell(_ event: JSONValue, isKept: Bool = false) {
    var fields: [String: CBOR] = ["params": .bytes(Data(event.encoded()))]
    if isKept {
      fields["time"] = .integer(clock.date.milliseconds)
      keep(fields)
    }
    send(fields, except: nil)
  }

  private func heard(_ fields: [String: CBOR], from sibling: PeerId) {
    guard repo.siblings.contains(sibling), let bytes = fields["params"]?.bytes,
      let event = try? JSONValue(parsing: Array(bytes)), event.objectValue != nil
    else { return }
    let time = fields["time"]?.integer
    if time != nil {
      guard !kept.contains(where: { $0.fields == fields }) else { return }
      keep(fields)
    }
    send(fields, except: sibling)
    if time.map({ $0 >= start }) ?? true { onEvent?(event) }
  }

  private func keep(_ fields: [String: CBOR]) {
    kept.append(Kept(fields: fields, heard: clock.now))
    kept = kept.suffix(Self.maximumKept)
  }

  private func tellWhatIsKept(_ sibling: PeerId) {
    let limit = clock.now - Self.memory
    kept.removeAll { $0.heard < limit }
    for event in kept { repo.send(type: Self.type, fields: event.fields, to: sibling) }
  }

  private func send(_ fields: [String: CBOR], except sender: PeerId?) {
    for sibling in repo.siblings where sibling != sender { repo.send(type: Self.type, fields: fields, to: sibling) }
  }
}
