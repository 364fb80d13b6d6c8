import AutomergeRepo
import JSONRPC

/// `notes/peers`: this person, and the peers that are known or nearby; with a `width`, as lines for a screen.
struct PeersRequest: NetworkRequest {
  static let method = "notes/peers"

  /// The width of the screen, if lines are wanted.
  let width: Int?

  init(_ params: Parameters) throws(ResponseError) { width = try params.widthIfPresent() }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let screen = width.map { ScreenAnswer(PeopleScreen(service).tableOfPeers(width: $0)) }
    let titles = service.sharing.peers.flatMap(\.notes).compactMap { note in
      service.notebook[note.document].map { (note.document, $0.title) }
    }
    return Result(
      peer: service.identity.peer, name: service.identity.name, fingerprint: service.sharing.fingerprint,
      peers: service.sharing.peers, titles: Dictionary(titles) { first, _ in first }, screen: screen)
  }

  struct Result: RequestResult {
    /// This person.
    let peer: PeerId
    let name: String
    let fingerprint: String
    let peers: [PeerSummary]
    /// The titles of the notes that are here.
    let titles: [DocumentId: String]
    let screen: ScreenAnswer?

    var json: JSONValue { get throws { try screen?.json ?? people } }

    private var people: JSONValue {
      [
        "self": [
          "peer": .string(peer.description), "name": .string(name), "fingerprint": .string(fingerprint),
        ],
        "peers": .array(peers.map(json)),
      ]
    }

    private func json(_ peer: PeerSummary) -> JSONValue {
      [
        "peer": .string(peer.peer.description), "name": .string(peer.name), "fingerprint": .string(peer.fingerprint),
        "state": .string(peer.state.rawValue), "via": .string(peer.via),
        "notes": .array(
          peer.notes.map { note in
            .object(present: [
              "id": .string(note.document.description), "title": titles[note.document].map(JSONValue.string),
              "access": .string(note.access.rawValue),
            ])
          }),
      ]
    }
  }
}
