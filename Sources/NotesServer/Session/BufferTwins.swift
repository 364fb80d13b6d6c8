import AutomergeRepo
import Foundation

/// Notices that two language clients of one editor have the same buffer open. Each of them reports what the person types,
/// and applies to the buffer what the other has reported: every word appears twice.
///
/// Each client has a process of its own. The processes tell each other which buffers they have attached, and for which
/// editor. Of two that have the same one, the older warns the person, if the other still has it after a while: an editor
/// that restarts its client has two processes for a moment.
///
///     another has it, too ──patience──► asked again ──it still has it──► told
@AutomergeRepo
final class BufferTwins {
  static let patience: Duration = .seconds(2)
  private static let type = "notes-buffer"

  /// A process, by its age.
  private struct Age: Comparable {
    let start: Int
    let token: String

    static func < (one: Age, other: Age) -> Bool { (one.start, one.token) < (other.start, other.token) }
  }

  private let repo: Repo
  private let clock: any RepoClock
  private let own: Age
  /// The editor's process, and the buffers that are attached; nil before the client has named its process.
  private var editor: (process: Int, uris: () -> Set<String>)?
  /// When each younger process was first heard to have a buffer of ours.
  private var heard: [String: [String: Duration]] = [:]
  private var told: Set<String> = []
  /// Called once for each buffer that another client of the editor has, too.
  var onTwin: ((_ uri: String) -> Void)?

  init(repo: Repo, clock: any RepoClock) {
    (self.repo, self.clock) = (repo, clock)
    own = Age(start: clock.date.milliseconds, token: UUID().uuidString)
    repo.onMessage(ofType: Self.type) { [weak self] fields, peer in self?.receive(fields, from: peer) }
    repo.observe { [weak self] event in
      guard case .siblingConnected(let peer) = event, let self else { return }
      for uri in self.editor?.uris().sorted() ?? [] { self.send(self.news(of: uri), to: [peer]) }
    }
  }

  /// - Parameter uris: returns the buffers that are attached now.
  func begin(editor process: Int, uris: @escaping () -> Set<String>) { editor = (process, uris) }

  /// Call when a buffer is attached.
  func attached(_ uri: String) { send(news(of: uri), to: repo.siblings) }

  private func news(of uri: String) -> [String: CBOR]? {
    editor.map { editor in
      [
        "uri": .text(uri), "editor": .integer(editor.process), "start": .integer(own.start), "token": .text(own.token),
      ]
    }
  }

  private func send(_ fields: [String: CBOR]?, to siblings: some Sequence<PeerId>) {
    guard let fields else { return }
    for sibling in siblings { repo.send(type: Self.type, fields: fields, to: sibling) }
  }

  private func receive(_ fields: [String: CBOR], from sibling: PeerId) {
    guard repo.siblings.contains(sibling), let uri = fields["uri"]?.text, let start = fields["start"]?.integer,
      let token = fields["token"]?.text
    else { return }
    // The processes form a star: passed on to all but its sender, a message reaches each once.
    send(fields, to: repo.siblings.filter { $0 != sibling })
    guard let editor, fields["editor"]?.integer == editor.process, editor.uris().contains(uri) else { return }
    let other = Age(start: start, token: token)
    // The older one may have told us of the buffer before we were connected, or may ask.
    if other < own { attached(uri) } else { hears(uri, of: token) }
  }

  private func hears(_ uri: String, of token: String) {
    guard let since = heard[uri]?[token] else {
      heard[uri, default: [:]][token] = clock.now
      _ = clock.schedule(after: Self.patience) { [weak self] in
        if let self, self.editor?.uris().contains(uri) == true { self.attached(uri) }
      }
      return
    }
    if clock.now - since >= Self.patience, told.insert(uri).inserted { onTwin?(uri) }
  }
}
