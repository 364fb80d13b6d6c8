import AutomergeRepo
import JSONRPC
import Logging

/// One editor as the requests see it: the connection to it, what its client can do, its buffers, and what it is told.
///
/// Its parts refer back to it, so it lives as long as the process.
@AutomergeRepo
final class Editor {
  let service: Service
  let connection: Connection
  /// What the client said of itself in `initialize`.
  var client = ClientCapabilities()
  /// Whether it has sent `initialize`, and neither `shutdown` nor `exit`.
  var isRunning = false
  /// The handlers for answers to our requests.
  private var awaited: [RequestId: (Result<JSONValue, ResponseError>) -> Void] = [:]
  private(set) lazy var buffers = EditorBuffers(editor: self)
  private(set) lazy var news = EditorNews(editor: self)
  let log = Logger(label: "session")

  /// - Parameter send: takes whole frames, in order.
  init(service: Service, send: @escaping ([UInt8]) -> Void) {
    self.service = service
    connection = Connection { [journal = service.journal] frame in
      journal.write()
      send(frame)
    }
    listen()
  }

  /// Has the service report what concerns the editor.
  private func listen() {
    service.sharing.onChange = { [weak self] event in self?.news.sharingChanged(event) }
    service.company.onChange = { [weak self] id in
      for attachment in self?.buffers.attachments(of: id) ?? [] { attachment.sendCursors() }
    }
    service.company.onArrival = { [weak self] in self?.news.arrived($1, in: $0, isHere: $2) }
    service.onCatalogueChange = { [weak self] change in self?.news.catalogueChanged(change) }
    service.siblingRequests.perform = { [weak self] method, params in
      await self?.performForSibling(method, params) ?? .failure(.methodNotFound(method))
    }
    service.siblingEvents.onEvent = { [weak self] event in self?.news.heardFromSibling(event) }
    service.onDeletion = { [weak self] in self?.news.deletedForEveryone($0, isNews: $1) }
    service.onRefusal = { [weak self] key, text, path in self?.news.refusedForAll(key, text, path: path) }
    service.recoveredTexts.hasEditor = { [weak self] in self?.isRunning ?? false }
    service.recoveredTexts.onNews = { [weak self] event in self?.deliver(event) }
    service.recoveredTexts.onHeld = { [weak self] id in
      self?.buffers.attachments(of: id).forEach { $0.updates.statusChanged() }
    }
    service.onRename = { [weak self] in self?.buffers.personIsRenamed() }
    service.mover.onMoved = { [weak self] old, new in self?.buffers.move(from: old, to: new) }
    service.mover.onFollowed = { [weak self] move in self?.news.followed(move) }
    service.onMeetingChange = { [weak self] handle in self?.buffers.followItems(of: handle) }
  }

  // MARK: Messages of ours

  func notify(_ notification: some ServerNotification) {
    connection.notify(type(of: notification).method, notification.params)
  }

  /// Sends a request, and calls `action` with the client's answer.
  func ask<Request: ServerRequest>(_ request: Request, _ action: @escaping (Request.Answer) -> Void) {
    let id = connection.request(Request.method, request.params)
    awaited[id] = { result in action(request.answer(try? result.get())) }
  }

  func answered(_ id: RequestId, _ result: Result<JSONValue, ResponseError>) {
    awaited.removeValue(forKey: id)?(result)
  }

  // MARK: Events

  /// The kinds of events that a plain client shows.
  private static let plainKinds: Set<String> = [
    "access", "refused", "recovered", "unshared", "detached", "waiting", "offered", "brokeOff", "keyChanged",
  ]

  /// Tells the editor what other people did.
  ///
  /// - Parameter event: the parameters of a `notes/event`
  func deliver(_ event: JSONValue) {
    guard isRunning else { return }
    if client.speaksNotes { return notify(EventNotification(params: event)) }
    if let kind = event["kind"]?.stringValue, Self.plainKinds.contains(kind),
      let message = event["message"]?.stringValue
    {
      notify(ShowMessageNotification(kind: .warning, message: message))
    } else {
      ask(event)
    }
  }

  /// Tells every buffer of a document; a meeting may have several.
  func deliver(_ event: JSONValue, to id: DocumentId) {
    let open = buffers.attachments(of: id)
    guard !open.isEmpty, case .object(var members) = event else { return deliver(event) }
    for attachment in open.sorted(by: { $0.uri < $1.uri }) {
      members["uri"] = .string(attachment.uri)
      deliver(.object(members))
      attachment.updates.toldOfStatus()
    }
  }

  private static let (accept, decline) = ("Accept", "Decline")

  /// Asks the person how to answer an invitation, when the client is a plain one.
  private func ask(_ event: JSONValue) {
    guard event["kind"] == "invited", let invitation = event["invitation"], let message = event["message"]?.stringValue
    else {
      return
    }
    // The digits stand in the button, where no peer can write.
    let code = service.sharing.invitations.first { .string($0.invitation) == invitation }?.code
    let accept = code.map { "\(Self.accept): both see \($0.prefix(3)) \($0.dropFirst(3))" } ?? Self.accept
    ask(ShowMessageRequest(message: message, actions: [accept, Self.decline])) { [weak self] choice in
      guard let choice else { return }
      Task { @AutomergeRepo in await self?.answer(invitation, accepts: choice == accept) }
    }
  }

  private func answer(_ invitation: JSONValue, accepts: Bool) async {
    do {
      let params: JSONValue = ["invitation": invitation, "accept": .bool(accepts)]
      let place = try await perform("notes/answer", Parameters(params)).json
      guard let path = place["path"]?.stringValue else { return }
      notify(ShowMessageNotification(kind: .info, message: "The note is in \(path)."))
    } catch {
      let message = ResponseError(replyingTo: error).message
      notify(ShowMessageNotification(kind: .error, message: "notes-lsp: \(message)"))
    }
  }
}
