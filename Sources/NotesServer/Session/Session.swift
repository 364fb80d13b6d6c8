import AutomergeRepo
import JSONRPC

/// One editor, from its first byte to its last: lifecycle and dispatch. `EditorProtocol` lists the messages that it may
/// send.
///
///     fresh ──initialize──► running ──shutdown──► shutDown ──exit──► ended
///                              └──exit, end of input, death of the editor──► ended
@AutomergeRepo
public final class Session {
  enum Phase: Equatable { case fresh, running, shutDown, ended }

  let editor: Editor
  private(set) var phase = Phase.fresh {
    didSet { editor.isRunning = phase == .running }
  }
  private var shutdown: Task<Void, Never>?
  /// Messages that arrived before the service had read its notes, in order.
  private var early: [Connection.Event] = []
  /// Whether the service has read its notes and has handled all early messages.
  private var takesEvents: Bool
  private var hasEndedEarly = false
  /// Called once, when everything is stored, with the exit code.
  public var onEnd: ((Int32) -> Void)?
  /// Called when the editor has introduced itself, so that this person's name is known.
  public var onInitialize: (() -> Void)?
  /// Called with the editor's process id, to watch it.
  public var onClientProcess: ((Int32) -> Void)?

  private var service: Service { editor.service }
  private var connection: Connection { editor.connection }

  /// - Parameter send: called with whole frames, in order
  public init(service: Service, send: @escaping ([UInt8]) -> Void) {
    editor = Editor(service: service, send: send)
    takesEvents = service.notebook.isLoaded
  }

  /// Handles bytes from the editor.
  public func receive(_ bytes: [UInt8]) {
    guard phase != .ended else { return }
    connection.append(bytes)
    editor.buffers.receive {
      while phase != .ended, let event = connection.nextEvent() { handle(event) }
    }
  }

  public var isInitialized: Bool { phase != .fresh }

  /// Tells the person about the store, at once or as soon as there is an editor that shows it.
  public func tell(_ news: StoreNews) { editor.news.tell(news) }

  public var hasEnded: Bool { phase == .ended }

  /// Call when the editor is gone, or no longer speaks the protocol: the same as `exit`.
  public func inputEnded() {
    if takesEvents { end() } else { hasEndedEarly = true }
  }

  /// Call when the service has read its notes: handles the messages that arrived meanwhile.
  public func serviceIsLoaded() {
    takesEvents = true
    let waiting = early
    early = []
    for event in waiting where phase != .ended { handle(event) }
    if hasEndedEarly { end() }
    service.author.nameKeeper.begin()
  }

  // MARK: Dispatch

  private func handle(_ event: Connection.Event) {
    guard takesEvents || event.isInitialize else { return early.append(event) }
    switch event {
    case .request(let id, let method, let params): request(id, method, Parameters(params))
    case .notification(let method, let params): notification(method, Parameters(params))
    case .response(let id, _, let result): editor.answered(id, result)
    case .cancelled: break
    case .protocolError(let error): editor.log.warning("The editor sent an invalid message: \(error.message)")
    case .fatal(let error):
      editor.log.error("The editor's frames can no longer be read: \(error)")
      phase = .running
      end()
    }
  }

  private func request(_ id: RequestId, _ method: String, _ params: Parameters) {
    editor.buffers.finishComparing()
    switch (phase, EditorProtocol.table[method]) {
    case (.fresh, .first(let type)): reply(to: id) { try initialize(type.init(params)) }
    case (.fresh, _):
      refuse(id, ResponseError(code: .serverNotInitialized, message: "The first request must be \"initialize\"."))
    case (.running, .first): refuse(id, ResponseError.invalidRequest("The session is initialized already."))
    case (.running, .last):
      phase = .shutDown
      shutdown = Task { @AutomergeRepo in
        await store(wasShutDown: true)
        connection.reply(to: id, .success(.null))
      }
    case (.running, .withUndo(let type)): answer(id, type, params)
    case (.running, .concurrent), (.running, .network), (.running, .shared):
      Task { @AutomergeRepo in
        do {
          connection.reply(to: id, encoded: try await editor.perform(method, params).encoded)
        } catch {
          refuse(id, error)
        }
      }
    case (.running, .exit), (.running, .inTurn), (.running, .inBuffer), (.running, nil):
      refuse(id, ResponseError.methodNotFound(method))
    case (.shutDown, _), (.ended, _):
      refuse(id, ResponseError.invalidRequest("The session was shut down; only \"exit\" may follow."))
    }
  }

  private func answer(_ id: RequestId, _ type: any BufferRequest.Type, _ params: Parameters) {
    do {
      let request = try type.init(params)
      editor.buffers.whenUndoIsKnown(request.uri) { [weak self] binding in
        self?.reply(to: id) {
          guard let binding else { throw NotesError(.notANote, "Not a note, or still opening") }
          return try request.perform(on: binding)
        }
      }
    } catch {
      refuse(id, error)
    }
  }

  private func reply(to id: RequestId, _ work: () throws -> any RequestResult) {
    do {
      connection.reply(to: id, encoded: try work().encoded)
    } catch {
      refuse(id, error)
    }
  }

  private func refuse(_ id: RequestId, _ error: any Error) {
    connection.reply(to: id, .failure(ResponseError(replyingTo: error)))
  }

  private func notification(_ method: String, _ params: Parameters) {
    let message = EditorProtocol.table[method]
    if case .exit = message { return end() }
    guard phase == .running else { return }
    do {
      switch message {
      case .inTurn(let type): try type.init(params).handle(for: editor)
      case .inBuffer(let type):
        let notification = try type.init(params)
        editor.buffers.whenAttached(notification.uri) { notification.handle(by: $0) }
      case .first, .last, .exit, .withUndo, .concurrent, .network, .shared, nil: break
      }
    } catch {
      // A notification has no reply, so the error is logged; a resync repairs the text.
      editor.log.warning("\(method): \(error.message)")
      if let uri = params.value["textDocument"]?["uri"]?.stringValue ?? params.value["uri"]?.stringValue {
        editor.buffers.textWentWrong(uri, reason: error.message)
      }
    }
  }

  // MARK: Beginning and end

  private func initialize(_ request: InitializeRequest) -> InitializeRequest.Result {
    editor.client = request.capabilities
    if let user = request.user { service.author.nameKeeper.set(user.name, by: .editor(client: user.client)) }
    let asksName = request.introduces && !service.author.nameKeeper.person.isGiven
    // Other people do not see this person until the person has agreed to it.
    if asksName { service.sharing.setVisible(false) }
    if let color = request.color { service.presenceTracker.color(color) }
    if let process = request.process {
      editor.news.lookForTwins(of: process)
      onClientProcess?(process)
    }
    phase = .running
    onInitialize?()
    service.recoveredTexts.tellSoon(after: RecoveredTexts.startDelay)
    if request.version > EditorProtocol.version {
      editor.notify(
        ShowMessageNotification(
          kind: .warning,
          message: "notes-lsp speaks notes protocol \(EditorProtocol.version), the editor's plugin \(request.version): "
            + "update notes-lsp."))
    }
    return InitializeRequest.Result(
      encoding: editor.client.encoding, wantsFullTexts: editor.client.reordersChanges, run: service.run,
      peer: service.identity.peer, name: service.identity.name, asksName: asksName,
      unsent: service.recoveredTexts.unsent.folder)
  }

  /// Stores everything, then calls `onEnd`. Input that arrives meanwhile is not read.
  private func end() {
    guard phase != .ended else { return }
    let code: Int32 = phase == .shutDown ? 0 : 1
    phase = .ended
    Task { @AutomergeRepo in
      await shutdown?.value
      await store(wasShutDown: code == 0)
      for binding in editor.buffers.bindings { binding.detach() }
      onEnd?(code)
    }
  }

  /// - Parameter wasShutDown: whether the client has asked for the end. One that ends itself closes its buffers before
  private func store(wasShutDown: Bool) async {
    service.awaitedNotes.end()
    // What the client wrote into a buffer that is still being opened is stored, too.
    await editor.buffers.finishOpenings()
    editor.buffers.finishComparing()
    for binding in editor.buffers.bindings { binding.rememberSeen() }
    await service.openFiles.settleAll()
    await service.documentFiles.settle()
    await service.elsewhere.settle()
    await service.settleName()
    // What peers send from now on could not be stored any more, so they are not told that it is here.
    service.repo.stopReceiving()
    var isStored = true
    do {
      try await service.repo.flush()
    } catch {
      editor.log.error("Not everything could be stored: \(error)")
      isStored = false
    }
    for binding in editor.buffers.bindings {
      service.fileSync.outdated.examine(binding.key, binding.handle, isShown: wasShutDown)
      do {
        try await service.notebook.save(binding.key, withBase: false)
        try await service.repo.storage?.commit(
          [binding.clientBaseItem, binding.undo.item].compactMap(\.self).map { .save($0) })
      } catch {
        editor.log.error("The record of \(binding.id) could not be stored: \(error)")
        isStored = false
      }
    }
    if !(await service.recoveredTexts.storeHeld()) { isStored = false }
    await service.fileSync.finish()
    // If this fails, the next search reads the documents.
    try? await service.repo.texts.keep()
    // The store now has what the editors have; buffers that outlive this process are recognised by that.
    if isStored, phase != .running { service.journal.end() }
  }
}

extension Connection.Event {
  /// The one request that needs no notes.
  fileprivate var isInitialize: Bool {
    if case .request(_, "initialize", _) = self { true } else { false }
  }
}
