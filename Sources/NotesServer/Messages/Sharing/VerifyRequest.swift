import AutomergeRepo
import JSONRPC

/// `notes/verify`: the digits that this person and a peer can compare at any time.
struct VerifyRequest: NetworkRequest {
  static let method = "notes/verify"

  let peer: String

  init(_ params: Parameters) throws(ResponseError) { peer = try params.string("peer") }

  func perform(for editor: Editor) async throws -> Result {
    let sharing = editor.service.sharing
    let peer = try sharing.peer(named: peer)
    let (code, isChanged) = try sharing.verification(of: peer)
    return Result(code: code, isChanged: isChanged, peer: peer, name: sharing.name(of: peer))
  }

  struct Result: RequestResult {
    let code: String
    /// Whether another key uses the peer's name.
    let isChanged: Bool
    let peer: PeerId
    let name: String

    var json: JSONValue {
      [
        "code": .string(code), "changed": .bool(isChanged), "peer": .string(peer.description), "name": .string(name),
        "message": .string(message), "lines": JSONValue(lines),
      ]
    }

    /// The digits, and below them what they are for.
    private var lines: [String] {
      let digits = stride(from: 0, to: code.count, by: 5).map { code.dropFirst($0).prefix(5) }.joined(separator: " ")
      let warning = [
        "", "WARNING: another key uses this name too.", "An impostor may be using the name of the person you met.",
      ]
      return [digits, "", OneLine.shown(name) + " must see the same digits."] + (isChanged ? warning : [])
    }

    private var message: String {
      isChanged
        ? NoteNews.fitted(name, ": WARNING, another key uses the name ", name, "")
        : NoteNews.cut(name, to: 20) + " sees the same digits, or it is not " + NoteNews.cut(name, to: 5)
    }
  }
}
