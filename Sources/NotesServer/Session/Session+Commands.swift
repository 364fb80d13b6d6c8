import AutomergeRepo
import JSONRPC

/// For commands, which make requests as an editor does, while an editor's service may be running.
extension Session {
  /// Carries out one request as if the editor had made it.
  public func perform(_ method: String, _ params: JSONValue) async throws(ResponseError) -> JSONValue {
    do {
      return try await editor.perform(method, Parameters(params)).json
    } catch {
      throw ResponseError(replyingTo: error)
    }
  }

  /// Called after each file of a folder that is imported, with its number and how many there are.
  public var onImport: ((Int, Int) -> Void)? {
    get { editor.news.onImport }
    set { editor.news.onImport = newValue }
  }

  /// Called while a single file is imported, with how many of its bytes are in the note and how many there are; first with 0.
  public var onImportOfBytes: ((Int, Int) -> Void)? {
    get { editor.news.onImportOfBytes }
    set { editor.news.onImportOfBytes = newValue }
  }

  /// Has the process with the network carry out a request about itself; nil if there is no such process.
  public func performInService(_ method: String, _ params: JSONValue) async throws(ResponseError) -> JSONValue? {
    await editor.service.siblings.settle()
    guard !editor.service.repo.siblings.isEmpty else { return nil }
    return try await editor.service.siblings.requests.ask(method, params)?.get()
  }

  /// Whether a note's file has the text that the process with the network has, or is left to an editor that has the note open
  /// and shows that text.
  public func isFileCurrent(_ id: DocumentId) async throws -> Bool {
    // Once that process has stored its text, this one can read it: the connection between the two may bring it later.
    let status = try await performInService("notes/status", ["id": .string(id.description)])
    guard status?["stored"]?.boolValue ?? !isServiceRunning else { return false }
    let service = editor.service
    let handle = try await service.fetch(id)
    try await handle.takeStored()
    try await service.notebook.refresh(id)
    guard let path = service.notebook[id]?.path, let note = NoteDocument(handle.document) else { return true }
    if isOpenInAnEditor(NoteKey(id)) { return true }
    guard let bytes = try await service.files.read(path) else { return false }
    return try await FileContents.reading(bytes, known: service.notebook[id]?.shape).text == DocumentText(note).allUTF8
  }

  /// Whether an editor has the note open. A process that updates the file has the claim for itself alone.
  private func isOpenInAnEditor(_ key: NoteKey) -> Bool {
    let files = editor.service.files
    if files.claim(key.lockName, exclusively: true) != nil { return false }
    return files.claim(key.lockName, exclusively: false) != nil
  }

  /// Whether another process of this person is running.
  public var isServiceRunning: Bool { !editor.service.repo.siblings.isEmpty }

  /// Returns the first result of `look` that is not nil. Looks again when another process reports an event, connects or
  /// ends, when the document has changed or another process has stored a record of it, and in any case after `silence`:
  /// not everything that ends a command's wait is reported.
  public func result<Result>(
    lookingAgainAfter silence: Duration, at document: DocumentId? = nil,
    of look: @AutomergeRepo () async throws -> Result?
  ) async throws -> Result {
    let service = editor.service
    let news = Signal(clock: service.clock)
    var observations = [
      service.environment.events.add { event in
        switch event {
        case .heardFromSibling: news.send()
        case .recordRead(let id) where id == document: news.send()
        default: break
        }
      },
      service.repo.observe { event in
        switch event {
        case .siblingConnected, .siblingDisconnected: news.send()
        case .peerConnected, .peerDisconnected, .documentOpened, .documentDeleted, .documentReleased: break
        }
      },
    ]
    if let document {
      observations.append(
        try await service.fetch(document).observe { event in
          if case .headsChanged = event { news.send() }
        })
    }
    defer { for observation in observations { observation.cancel() } }
    while true {
      let count = news.count
      if let result = try await look() { return result }
      await news.next(after: count, until: service.clock.now + silence)
    }
  }
}
