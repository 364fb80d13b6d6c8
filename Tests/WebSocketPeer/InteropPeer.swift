import Automerge
import AutomergeRepo
import Foundation
import PeerTransport
import UV
import WebSocketNetwork

/// One peer of ours: a repo without a store, and its WebSockets.
@AutomergeRepo
final class InteropPeer {
  enum Failure: Error {
    case unknownCommand(String)
    case noDocument
    case noText
    case badAddress
  }

  private let repo: Repo
  private let provider: WebSocketProvider
  private let network: BrittleNetwork
  private var heard: [DocumentId: [String: Int]] = [:]
  private var observations: [DocumentId: Observation] = [:]

  /// - Parameter authority: certificates of those that may vouch for servers, in PEM; nil for those that the system trusts.
  init(_ name: String, trusting authority: String?, on loop: Loop) {
    let clock = LoopClock(loop)
    repo = Repo(
      peerId: PeerId(name), metadata: PeerMetadata(isEphemeral: true), sharePolicy: ShareEverything(), clock: clock)
    provider = WebSocketProvider(loop: loop, clock: clock, authorityFile: authority)
    network = BrittleNetwork(provider)
    repo.add(network)
    // Documents that come unasked count too.
    _ = repo.observe { [weak self] event in
      if case .documentOpened(let handle) = event { self?.watch(handle) }
    }
  }

  func perform(_ what: String, _ fields: [String: Any]) async throws -> [String: Any] {
    switch what {
    case "listen":
      let token = fields["token"] as? String
      var certificate: WebSocketCertificate?
      if let file = fields["certificate"] as? String, let key = fields["key"] as? String {
        certificate = WebSocketCertificate(certificateFile: file, keyFile: key)
      }
      let place = PeerAddress(host: "127.0.0.1", port: 0)
      let address = try provider.listen(at: place, certificate: certificate) { request in
        token == nil || request.token == token ? .accept(.token(request.token ?? "")) : .refuse
      }
      return ["url": "\(certificate == nil ? "ws" : "wss")://\(address)/"]
    case "connect":
      guard let url = WebSocketURL(fields["url"] as? String ?? "") else { throw Failure.badAddress }
      provider.connect(to: url, token: fields["token"] as? String)
    case "create":
      let handle = try repo.create()
      try handle.change { document in
        let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
        try document.spliceText(obj: content, start: 0, delete: 0, value: fields["text"] as? String ?? "")
      }
      return ["document": handle.id.description]
    case "open":
      let id = try id(fields)
      Task { await self.open(id) }
    case "splice":
      try splice(
        try handle(fields), at: fields["at"] as? Int ?? 0, delete: fields["delete"] as? Int ?? 0,
        insert: fields["insert"] as? String ?? "")
    case "tell":
      let word = CBOR.record(["word": .text(fields["word"] as? String ?? "")])
      try handle(fields).broadcast(Data(word.encoded()))
    case "drop": network.breaksAfter = fields["after"] as? Int
    case "calm": network.breaksAfter = nil
    case "state": return try state(try id(fields))
    case "stop": try await repo.shutDown()
    default: throw Failure.unknownCommand(what)
    }
    return [:]
  }

  private func id(_ fields: [String: Any]) throws -> DocumentId {
    guard let id = DocumentId(fields["document"] as? String ?? "") else { throw Failure.noDocument }
    return id
  }

  private func handle(_ fields: [String: Any]) throws -> DocHandle {
    guard let handle = repo.handle(of: try id(fields)) else { throw Failure.noDocument }
    return handle
  }

  /// Asks until a peer has the document.
  private func open(_ id: DocumentId) async {
    while true {
      if case .found = await repo.find(id) { return }
      await withCheckedContinuation { continuation in
        _ = provider.later(.milliseconds(20)) { continuation.resume() }
      }
    }
  }

  private func watch(_ handle: DocHandle) {
    guard observations[handle.id] == nil else { return }
    observations[handle.id] = handle.observe { [weak self] event in
      guard case .ephemeral(let message, via: _) = event, let value = try? CBOR(message.data),
        let word = value["word"]?.text
      else { return }
      self?.heard[message.documentId, default: [:]][word, default: 0] += 1
    }
  }

  private static func text(of document: Document) throws -> ObjId {
    guard case .Object(let content, .Text)? = try document.get(obj: .ROOT, key: "content") else { throw Failure.noText }
    return content
  }

  private func splice(_ handle: DocHandle, at: Int, delete: Int, insert: String) throws {
    try handle.change { document in
      let content = try Self.text(of: document)
      let length = Int(document.length(obj: content))
      let index = at % (length + 1)
      try document.spliceText(
        obj: content, start: UInt64(index), delete: Int64(min(delete, length - index)), value: insert)
    }
  }

  private func state(_ id: DocumentId) throws -> [String: Any] {
    var state: [String: Any] = ["heard": heard[id] ?? [:], "peers": repo.peers.keys.map(\.description).sorted()]
    guard let handle = repo.handle(of: id), !handle.document.heads().isEmpty else { return state }
    // Those to which words about the document go.
    state["peers"] = handle.peers.map(\.description).sorted()
    state["heads"] = handle.document.heads().map { "\($0)" }.sorted()
    state["text"] = try? handle.document.text(obj: try Self.text(of: handle.document))
    return state
  }
}

extension WebSocketProvider {
  /// Runs `action` on the provider's own clock.
  func later(_ delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction {
    clock.schedule(after: delay, action)
  }
}
