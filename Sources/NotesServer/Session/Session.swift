import AutomergeRepo
import JSONRPC
import Logging

/// One editor, from its first byte to its last: lifecycle and dispatch. The extensions have the methods.
///
///     fresh ──initialize──► running ──shutdown──► shutDown ──exit──► ended
///                              └──exit, end of input, death of the editor──► ended
@AutomergeRepo
public final class Session {
  enum Phase: Equatable { case fresh, running, shutDown, ended }

  let service: Service
  let connection: Connection
  private(set) var phase = Phase.fresh
  /// The client's unit for columns.
  private(set) var encoding = PositionEncoding.utf16
  /// Whether the client speaks the notes extension; false for a plain LSP client.
  private(set) var isNotesClient = false
  /// Whether a plain client wants to be sent other people's changes.
  private(set) var offersEdits = false
  /// The handlers for answers to our requests.
  private var awaited: [RequestId: (Result<JSONValue, ResponseError>) -> Void] = [:]
  var buffers: [String: Buffer] = [:]
  var nextOpening = 0
  /// Buffers whose documents are being fetched, by the number of their opening.
  var openings: [Int: Task<Void, Never>] = [:]
  /// Files whose changes came before their text was known; the full text was requested.
  var strangers: Set<String> = []
  /// More of the editor's messages may be waiting to be read.
  private(set) var isReceiving = false
  /// Buffers for which an edit may be due when all messages are read.
  var buffersWithEdits: Set<String> = []
  private var shutdown: Task<Void, Never>?
  /// Messages that came before the service had read its notes, in order.
  private var early: [Connection.Event] = []
  /// Whether the service has read its notes, and all early messages were handled.
  private var takesEvents: Bool
  private var hasEndedEarly = false
  /// Called once, when everything is stored, with the exit code.
  public var onEnd: ((Int32) -> Void)?
  /// Called when the editor has introduced itself: this person's name is known.
  public var onInitialize: (() -> Void)?
  /// Called with the editor's process id, to watch it.
  public var onClientProcess: ((Int32) -> Void)?
  let log = Logger(label: "session")

  /// - Parameter send: takes whole frames, in order.
  public init(service: Service, send: @escaping ([UInt8]) -> Void) {
    self.service = service
    connection = Connection { [journal = service.journal] frame in
      journal.write()
      send(frame)
    }
    takesEvents = service.isLoaded
    service.sharing.onChange = { [weak self] event in self?.sharingChanged(event) }
    service.company.onChange = { [weak self] id in
      for attachment in self?.attachments(of: id) ?? [] { attachment.sendCursors() }
    }
    service.onCatalogueChange = { [weak self] change in self?.catalogueChanged(change) }
    service.siblingRequests.perform = { [weak self] method, params in
      await self?.performForSibling(method, params) ?? .failure(.methodNotFound(method))
    }
    service.siblingEvents.onEvent = { [weak self] event in self?.heardFromSibling(event) }
    service.onDeletion = { [weak self] in self?.deletedForEveryone($0, isNews: $1) }
    service.onRefusal = { [weak self] key, text, path in self?.refusedForAll(key, text, path: path) }
    service.recoveredTexts.hasEditor = { [weak self] in self?.phase == .running }
    service.recoveredTexts.onNews = { [weak self] event in self?.deliver(event) }
    service.recoveredTexts.onHeld = { [weak self] id in self?.attachments(of: id).forEach { $0.statusChanged() } }
    service.onRename = { [weak self] in self?.renamed() }
    service.mover.onMoved = { [weak self] old, new in self?.moveBuffers(from: old, to: new) }
    service.mover.onFollowed = { [weak self] move in self?.followed(move) }
    service.onMeetingChange = { [weak self] handle in self?.followItems(of: handle) }
    service.company.onArrival = { [weak self] id, person, isHere in self?.arrived(person, in: id, isHere: isHere) }
  }

  /// Handles bytes from the editor.
  public func receive(_ bytes: [UInt8]) {
    guard phase != .ended else { return }
    connection.append(bytes)
    isReceiving = true
    while phase != .ended, let event = connection.nextEvent() { handle(event) }
    isReceiving = false
    // Other people's changes are sent once the editor's are applied: an edit for an outdated version would be dropped.
    for uri in buffersWithEdits {
      if case .attached(let attachment)? = buffers[uri] { attachment.sendPendingEdit() }
    }
    buffersWithEdits.removeAll()
  }

  public var isInitialized: Bool { phase != .fresh }

  public var hasEnded: Bool { phase == .ended }

  /// The editor is gone, or no longer speaks the protocol: the same as `exit`.
  public func inputEnded() {
    if takesEvents { end() } else { hasEndedEarly = true }
  }

  /// The service has read its notes: handles the messages that came meanwhile.
  public func serviceIsLoaded() {
    takesEvents = true
    let waiting = early
    early = []
    for event in waiting where phase != .ended { handle(event) }
    if hasEndedEarly { end() }
    service.nameKeeper.begin()
  }

  private func handle(_ event: Connection.Event) {
    guard takesEvents || event.isInitialize else { return early.append(event) }
    switch event {
    case .request(let id, let method, let params): request(id, method, Parameters(params))
    case .notification(let method, let params): notification(method, Parameters(params))
    case .response(let id, _, let result): awaited.removeValue(forKey: id)?(result)
    case .cancelled: break
    case .protocolError(let error): log.warning("The editor sent something wrong: \(error.message)")
    case .fatal(let error):
      log.error("The editor's frames cannot be read any more: \(error)")
      phase = .running
      end()
    }
  }

  private func request(_ id: RequestId, _ method: String, _ params: Parameters) {
    finishComparing()
    switch (phase, method) {
    case (.fresh, "initialize"):
      connection.reply(to: id, Result { () throws(ResponseError) in try initialize(params) })
    case (.fresh, _):
      connection.reply(
        to: id,
        .failure(ResponseError(code: .serverNotInitialized, message: "The first request must be \"initialize\".")))
    case (.running, "initialize"):
      connection.reply(to: id, .failure(.invalidRequest("The session is initialized already.")))
    case (.running, "shutdown"):
      phase = .shutDown
      shutdown = answer(id) { session in
        await session.store()
        return .null
      }
    case (.running, "notes/undo"), (.running, "notes/redo"):
      undo(id, params, method == "notes/undo" ? .undo : .redo)
    case (.running, "notes/list"):
      Task { @AutomergeRepo in
        do {
          connection.reply(to: id, encoded: try await listText(params))
        } catch {
          connection.reply(to: id, .failure(ResponseError(replyingTo: error)))
        }
      }
    case (.running, _):
      guard let handler = Self.requests[method] else {
        connection.reply(to: id, .failure(.methodNotFound(method)))
        return
      }
      answer(id) { session in
        if let answer = try await session.forward(method, params) { return answer }
        return try await handler(session, params)
      }
    case (.shutDown, _), (.ended, _):
      connection.reply(to: id, .failure(.invalidRequest("The session was shut down; only \"exit\" may follow.")))
    }
  }

  /// Carries out one request as if the editor had made it: for commands, which have none.
  public func perform(_ method: String, _ params: JSONValue) async throws(ResponseError) -> JSONValue {
    guard let handler = Self.requests[method] else { throw .methodNotFound(method) }
    do {
      let params = Parameters(params)
      if let answer = try await forward(method, params) { return answer }
      return try await handler(self, params)
    } catch {
      throw ResponseError(replyingTo: error)
    }
  }

  @discardableResult
  private func answer(
    _ id: RequestId, _ work: @escaping @AutomergeRepo (Session) async throws -> JSONValue
  ) -> Task<Void, Never> {
    Task { @AutomergeRepo in
      do {
        connection.reply(to: id, .success(try await work(self)))
      } catch {
        connection.reply(to: id, .failure(ResponseError(replyingTo: error)))
      }
    }
  }

  private func notification(_ method: String, _ params: Parameters) {
    if method == "exit" { return end() }
    guard phase == .running, let handler = Self.notifications[method] else { return }
    do {
      try handler(self, params)
    } catch let error as ResponseError {
      // A notification has no reply: logs the error; a resync repairs the text.
      log.warning("\(method): \(error.message)")
      if let uri = params.value["textDocument"]?["uri"]?.stringValue ?? params.value["uri"]?.stringValue {
        textWentWrong(uri: uri, reason: error.message)
      }
    } catch {
      log.error("\(method): \(error)")
    }
  }

  private func initialize(_ params: Parameters) throws(ResponseError) -> JSONValue {
    let general = try params.objectIfPresent("capabilities")?.objectIfPresent("general")
    encoding = PositionEncoding(offered: try general?.stringsIfPresent("positionEncodings"))
    let options = try params.objectIfPresent("initializationOptions")?.objectIfPresent("notes")
    isNotesClient = options != nil
    offersEdits = try params.objectIfPresent("initializationOptions")?.boolIfPresent("applyEdits") ?? false
    let asked = try options?.intIfPresent("protocol") ?? 1
    if let name = try options?.stringIfPresent("userName") {
      let client = try options?.stringIfPresent("client") ?? ""
      service.nameKeeper.set(name, by: .editor(client: String(client.prefix { $0 != " " })))
    }
    if let color = try options?.intIfPresent("color") { service.company.color(color) }
    if let process = try params.intIfPresent("processId"), let id = Int32(exactly: process), id > 0 {
      onClientProcess?(id)
    }
    phase = .running
    onInitialize?()
    service.recoveredTexts.tellSoon(after: RecoveredTexts.startDelay)
    if asked > 1 {
      connection.notify(
        "window/showMessage",
        [
          "type": 2,
          "message": "notes-lsp speaks notes protocol 1, the editor's plugin \(JSONValue(asked)): update notes-lsp.",
        ])
    }
    return [
      "serverInfo": ["name": "notes-lsp", "version": .string(Service.version)],
      "capabilities": [
        "positionEncoding": .string(encoding.rawValue),
        "textDocumentSync": ["openClose": true, "change": 2, "save": true],
        "workspaceSymbolProvider": true,
        "experimental": [
          "notes": [
            "protocol": 1, "undo": true, "run": .string(service.run),
            "peerId": .string(service.identity.peer.description),
            "peerName": .string(service.identity.name),
          ]
        ],
      ],
    ]
  }

  /// Calls `action` with the client's answer to a request of ours.
  func whenAnswered(_ id: RequestId, _ action: @escaping (Result<JSONValue, ResponseError>) -> Void) {
    awaited[id] = action
  }

  /// Stores everything, then calls `onEnd`. Input that arrives meanwhile is not read.
  private func end() {
    guard phase != .ended else { return }
    let code: Int32 = phase == .shutDown ? 0 : 1
    phase = .ended
    Task { @AutomergeRepo in
      await shutdown?.value
      await store()
      for case .attached(let attachment) in buffers.values { attachment.detach() }
      onEnd?(code)
    }
  }

  /// Brings everything that the client has sent into the documents.
  private func finishComparing() {
    for case .attached(let attachment) in buffers.values { attachment.finishComparing() }
  }

  private func store() async {
    service.awaitedNotes.end()
    // What the client wrote into a buffer that is still being opened is stored, too.
    for case .opening(let opening) in buffers.values where !opening.waiting.isEmpty || opening.waitsFor != nil {
      await openings[opening.number]?.value
    }
    finishComparing()
    for case .attached(let attachment) in buffers.values { attachment.rememberSeen() }
    await service.openFiles.settleAll()
    await service.elsewhere.settle()
    await service.settleName()
    var isStored = true
    do {
      try await service.repo.flush()
    } catch {
      log.error("Not everything could be stored: \(error)")
      isStored = false
    }
    for case .attached(let attachment) in buffers.values {
      do {
        try await service.notebook.save(attachment.key, withBase: false)
        try await service.repo.storage?.commit(
          [attachment.clientBaseItem, attachment.undoItem].compactMap(\.self).map { .save($0) })
      } catch {
        log.error("The record of \(attachment.id) could not be stored: \(error)")
        isStored = false
      }
    }
    if !(await service.recoveredTexts.storeHeld()) { isStored = false }
    // The store now has what the editors have; buffers that outlive this process are recognized by that.
    if isStored, phase != .running { service.journal.end() }
  }

  // MARK: Tables

  private typealias Request = @AutomergeRepo (Session, Parameters) async throws -> JSONValue
  private typealias Notification = @AutomergeRepo (Session, Parameters) throws -> Void

  private static let requests: [String: Request] = [
    "notes/list": { try await $0.list($1) },
    "workspace/symbol": { try await $0.symbols($1) },
    "notes/create": { try await $0.create($1) },
    "notes/adopt": { try await $0.adopt($1) },
    "notes/open": { try await $0.open($1) },
    "notes/rename": { try await $0.rename($1) },
    "notes/delete": { try await $0.delete($1) },
    "notes/undelete": { try await $0.undelete($1) },
    "notes/purge": { try await $0.purge($1) },
    "notes/recovered": { try await $0.recovered($1) },
    "notes/export": { try await $0.export($1) },
    "notes/import": { try await $0.import($1) },
    "notes/merge": { try await $0.merge($1) },
    "notes/items": { try await $0.items($1) },
    "notes/addItem": { try await $0.addItem($1) },
    "notes/moveItem": { try await $0.moveItem($1) },
    "notes/share": { try await $0.share($1) },
    "notes/unshare": { try await $0.unshare($1) },
    "notes/join": { try await $0.join($1) },
    "notes/peers": { try $0.peers($1) },
    "notes/people": { try await $0.people($1) },
    "notes/setAccess": { try await $0.setAccess($1) },
    "notes/remove": { try await $0.remove($1) },
    "notes/copy": { try await $0.copy($1) },
    "notes/verify": { try $0.verify($1) },
    "notes/invite": { try await $0.invite($1) },
    "notes/invitations": { try $0.invitations($1) },
    "notes/answer": { try await $0.answer($1) },
    "notes/trust": { try await $0.trust($1) },
    "notes/connect": { try await $0.connect($1) },
    "notes/disconnect": { try $0.disconnect($1) },
    "notes/history": { try await $0.history($1) },
    "notes/textAt": { try await $0.textAt($1) },
    "notes/diff": { try await $0.diff($1) },
    "notes/blame": { try await $0.blame($1) },
    "notes/restore": { try await $0.restore($1) },
    "notes/status": { try $0.status($1) },
    "notes/setName": { try await $0.setName($1) },
  ]

  private static let notifications: [String: Notification] = [
    "textDocument/didOpen": { try $0.didOpen($1) },
    "textDocument/didChange": { try $0.didChange($1) },
    "textDocument/didSave": { try $0.didSave($1) },
    "textDocument/didClose": { try $0.didClose($1) },
    "workspace/didChangeWatchedFiles": { try $0.didChangeWatchedFiles($1) },
    "notes/file": { try $0.fileFound($1) },
    "notes/ack": { try $0.ack($1) },
    "notes/cursor": { try $0.cursor($1) },
  ]
}

extension PositionEncoding {
  /// The first encoding of the client's list that we know; UTF-16 without a list, as in LSP.
  init(offered: [String]?) {
    self = offered?.lazy.compactMap(PositionEncoding.init(rawValue:)).first ?? .utf16
  }
}

extension Connection.Event {
  /// The one request that needs no notes.
  fileprivate var isInitialize: Bool {
    if case .request(_, "initialize", _) = self { true } else { false }
  }
}
