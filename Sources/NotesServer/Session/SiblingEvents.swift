import AutomergeRepo
import Foundation
import JSONRPC

/// Passes news of other people from the process with the network to the editors of this person's other processes.
///
/// The processes form a star: a process passes an event to all but its sender, so it reaches each process once.
@AutomergeRepo
final class SiblingEvents {
  private static let type = "notes-event"

  private let repo: Repo
  /// Called with the parameters of a `notes/event` from another process.
  var onEvent: (@AutomergeRepo (JSONValue) -> Void)?

  init(repo: Repo) {
    self.repo = repo
    repo.onMessage(ofType: Self.type) { [weak self] fields, peer in self?.heard(fields, from: peer) }
  }

  func tell(_ event: JSONValue) { send(["params": .bytes(Data(event.encoded()))], except: nil) }

  private func heard(_ fields: [String: CBOR], from sibling: PeerId) {
    guard repo.siblings.contains(sibling), let bytes = fields["params"]?.bytes,
      let event = try? JSONValue(parsing: Array(bytes)), event.objectValue != nil
    else { return }
    send(fields, except: sibling)
    onEvent?(event)
  }

  private func send(_ fields: [String: CBOR], except sender: PeerId?) {
    for sibling in repo.siblings where sibling != sender { repo.send(type: Self.type, fields: fields, to: sibling) }
  }
}
