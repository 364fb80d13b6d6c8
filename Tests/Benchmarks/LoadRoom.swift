import Automerge
import AutomergeRepo
import Foundation

/// One document and when each of its changes was typed.
@AutomergeRepo
final class LoadRoom {
  let id: DocumentId
  let document = Document()
  private let text: ObjId
  /// When each keystroke was typed, and by which client.
  private var keystrokes: [(time: Duration, client: Int)] = []
  /// How many keystrokes a state of the document has.
  private var counts: [ChangeHash: Int] = [:]

  init(id: DocumentId) throws {
    self.id = id
    text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    document.commitWith(message: nil, timestamp: Date())
    for head in document.heads() { counts[head] = 0 }
  }

  func type(by client: Int, at now: Duration) throws {
    try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: "x")
    document.commitWith(message: nil, timestamp: Date())
    keystrokes.append((now, client))
    for head in document.heads() { counts[head] = keystrokes.count }
  }

  /// How many keystrokes a state of the document has; nil for an unknown state.
  func count(of heads: [ChangeHash]) -> Int? { heads.compactMap { counts[$0] }.max() }

  var count: Int { keystrokes.count }

  /// How long those keystrokes of others took that arrive now.
  func milliseconds(of range: Range<Int>, for client: Int, at now: Duration) -> [Double] {
    keystrokes[range].filter { $0.client != client }.map { (now - $0.time) / .milliseconds(1) }
  }
}
