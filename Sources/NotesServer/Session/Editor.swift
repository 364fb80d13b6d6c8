import AutomergeRepo
import JSONRPC
import Logging

/// One editor as the requests see it: the connection to it, its client's capabilities, its buffers, and its news.
///
/// Its parts refer back to it, so it lives as long as the process.
@AutomergeRepo
final class Editor: SiblingRequestPerforming {
  let service: Service
  let connection: Connection
  /// What the client said about itself in `initialize`.
  var client = ClientCapabilities()
  /// Whether it has sent `initialize`, and neither `shutdown` nor `exit`.
  var isRunning = false {
    didSet {
      service.recoveredTexts.hasEditor = isRunning
      if isRunning, !oldValue { news.tellOfStore() }
      if !isRunning, oldValue { work.end() }
    }
  }
  /// The handlers for answers to our requests.
  private var awaited: [RequestId: (Result<JSONValue, ResponseError>) -> Void] = [:]
  private(set) lazy var buffers = EditorBuffers(editor: self)
  private(set) lazy var news = EditorNews(editor: self)
  private lazy var limited = LimitedNews(self)
  private(set) lazy var work = WorkNews(self)
  let screens = ScreenUpdates()
  private(set) lazy var agendaNews = AgendaNews(service)
  private(set) lazy var tutor = Tutor(service)
  let log = Logger(label: "session")

  /// - Parameter send: called with whole frames, in order
  init(service: Service, send: @escaping ([UInt8]) -> Void) {
    self.service = service
    connection = Connection { [journal = service.journal] frame in
      journal.write()
      send(frame)
    }
    service.siblings.requests.performer = self
    agendaNews.onMessage = { [weak self] id, message in
      self?.deliver(["kind": "agenda", "id": .string(id.description), "message": .string(message)])
    }
    service.environment.events.add { [weak self] event in self?.serviceDid(event) }
  }

  /// Handles what the service reports.
  private func serviceDid(_ event: ServiceEvent) {
    switch event {
    case .sharingChanged(let event): news.sharingChanged(event)
    case .ticketsRevoked(let id): news.ticketsRevoked(id)
    case .caretsChanged(let id):
      for binding in buffers.bindings(of: id) { binding.sendCursors() }
      refreshHints(of: id)
    case .arrived(let person, let id, let isHere): news.arrived(person, in: id, isHere: isHere)
    case .pointed(let person, let id, let range, let text):
      for binding in buffers.bindings(of: id) { binding.pointed(by: person, range, text) }
    case .catalogueChanged(let change): news.catalogueChanged(change)
    case .heardFromSibling(let event): news.heardFromSibling(event)
    case .deletedForEveryone(let handle, let isNews): news.deletedForEveryone(handle, isNews: isNews)
    case .refused(let key, let text, let path): news.refusedForAll(key, text, path: path)
    case .recovered(let event): deliver(event)
    case .heldTextsChanged(let id): for binding in buffers.bindings(of: id) { binding.updates.statusChanged() }
    case .fileIsText(let isText, let key): news.fileIsText(isText, key)
    case .renamed: buffers.personIsRenamed()
    case .moved(let old, let new): buffers.move(from: old, to: new)
    case .followed(let move): news.followed(move)
    case .agendaChanged(let handle):
      agendaNews.changed(handle, isOpen: !buffers.bindings(of: handle.id).isEmpty)
      buffers.followItems(of: handle)
    case .changedWhileOpen(let handle): buffers.followText(of: handle)
    case .changedByOthers(let id):
      if client.speaksNotes { deliver(["kind": "changed", "id": .string(id.description)]) }
    case .fileNews(let message):
      if isRunning { notify(ShowMessageNotification(kind: .warning, message: message)) }
    // The process that received the news of another access may have ended before this one connected to it.
    case .recordRead(let id): for binding in buffers.bindings(of: id) { binding.updates.statusChanged() }
    case .openNotesChanged: break
    }
  }

  // MARK: Messages of ours

  func notify(_ notification: some ServerNotification) {
    connection.notify(type(of: notification).method, encoded: notification.encoded)
  }

  /// Sends a request, and calls `action` with the client's answer.
  func ask<Request: ServerRequest>(_ request: Request, _ action: @escaping (Request.Answer) -> Void) {
    let id = connection.request(Request.method, request.params)
    awaited[id] = { result in action(request.answer(try? result.get())) }
  }

  func answered(_ id: RequestId, _ result: Result<JSONValue, ResponseError>) {
    awaited.removeValue(forKey: id)?(result)
  }

  /// Whether the client still has to answer our request to ask for carets again, and whether they have moved meanwhile.
  private enum HintRefresh { case idle, asked, askedAndMoved }
  private var hintRefresh = HintRefresh.idle

  /// Makes a plain client request others' carets again: one request at a time, whatever the number of moves.
  private func refreshHints(of id: DocumentId) {
    guard client.refreshesHints, !buffers.bindings(of: id).isEmpty else { return }
    guard hintRefresh == .idle else { return hintRefresh = .askedAndMoved }
    hintRefresh = .asked
    ask(RefreshHintsRequest()) { [weak self] _ in
      guard let self else { return }
      let movedAgain = self.hintRefresh == .askedAndMoved
      self.hintRefresh = .idle
      if movedAgain { self.refreshHints(of: id) }
    }
  }

  // MARK: Events

  /// The kinds of events that a plain client shows.
  private static let plainKinds: Set<String> = [
    "access", "refused", "recovered", "unshared", "detached", "waiting", "offered", "brokeOff", "keyChanged",
    "repeated", "store", "file",
  ]

  /// Tells the editor what other people did. Of too many lines by one peer, only the last are shown, later.
  ///
  /// - Parameter event: the parameters of a `notes/event`
  func deliver(_ event: JSONValue) {
    if isRunning { send(limited.passed(event)) }
  }

  /// Tells the editor something, without a limit.
  func send(_ event: JSONValue) {
    guard isRunning else { return }
    if client.speaksNotes { return notify(EventNotification(params: EventLine.completed(event))) }
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
    let open = buffers.uris(of: id)
    guard isRunning, !open.isEmpty, case .object(var members) = limited.passed(event) else { return deliver(event) }
    for uri in open {
      members["uri"] = .string(uri)
      send(.object(members))
      if case .attached(let binding)? = buffers[uri] { binding.updates.toldOfStatus() }
    }
  }

  private static let (accept, decline) = ("Accept", "Decline")

  /// Asks the person how to answer an invitation, when the client is a plain one.
  private func ask(_ event: JSONValue) {
    guard event["kind"] == "invited", let invitation = event["invitation"], let message = event["message"]?.stringValue
    else {
      return
    }
    // The digits are in the button, where no peer can write.
    let code = service.sharing.invitations.first { .string($0.invitation) == invitation }?.code
    let accept = code.map { "\(Self.accept): both see \($0.prefix(3)) \($0.dropFirst(3))" } ?? Self.accept
    ask(ShowMessageRequest(message: message, actions: [accept, Self.decline])) { [weak self] answer in
      guard let self, isRunning else { return }
      switch answer {
      case .chosen(let choice): Task { @AutomergeRepo in await self.answer(invitation, accepts: choice == accept) }
      case .none: break
      case .notAsked:
        notify(ShowMessageNotification(kind: .info, message: "\(message): choose a code action to answer"))
      }
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
