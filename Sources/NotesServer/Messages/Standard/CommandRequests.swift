import Automerge
import AutomergeRepo
import JSONRPC

/// One of our requests as an LSP command, for clients without a plugin: `notes-lsp.share` is `notes/share`, and takes
/// its parameters as the only argument.
struct NoteCommand {
  private static let prefix = "notes-lsp."
  private static let requests = [
    "create", "open", "adopt", "rename", "delete", "undelete", "copy", "share", "join", "unshare", "invite", "answer",
    "setAccess", "setName", "connect", "publish", "restore", "import", "export",
  ]

  static let all = requests.map { prefix + $0 }

  /// The method that a command invokes.
  static func method(of command: String) -> String? {
    guard all.contains(command) else { return nil }
    return "notes/" + command.dropFirst(prefix.count)
  }

  let title: String
  let request: String
  let params: JSONValue

  var json: JSONValue {
    ["title": .string(title), "command": .string(Self.prefix + request), "arguments": [params]]
  }
}

/// `workspace/executeCommand`: carries out one of our own requests, and tells the person the outcome.
struct ExecuteCommandRequest: EditorRequest {
  static let method = "workspace/executeCommand"

  let method: String
  let params: JSONValue

  init(_ params: Parameters) throws(ResponseError) {
    let command = try params.string("command")
    guard let method = NoteCommand.method(of: command) else {
      throw params.invalid("command", "must be one of \(NoteCommand.all.joined(separator: ", "))")
    }
    self.method = method
    self.params = params.value["arguments"]?[0] ?? [:]
  }

  func perform(for editor: Editor) async throws -> NullResult {
    let result = try await editor.perform(method, Parameters(params)).json
    if let ticket = result["ticket"]?.stringValue {
      tell("Anyone with this ticket can join the note: \(ticket)", editor)
    } else if let code = result["code"]?.stringValue {
      tell("\(code.prefix(3)) \(code.dropFirst(3)): the other person must see the same digits", editor)
    } else if let uri = result["uri"]?.stringValue, let path = result["path"]?.stringValue {
      guard editor.client.showsDocuments else {
        tell("The note is in \(path).", editor)
        return NullResult()
      }
      editor.ask(ShowDocumentRequest(uri: uri)) { _ in }
    }
    return NullResult()
  }

  private func tell(_ message: String, _ editor: Editor) {
    editor.notify(ShowMessageNotification(kind: .info, message: message))
  }
}

/// `textDocument/codeAction`: share, answer an invitation, restore an earlier text.
struct CodeActionRequest: EditorRequest {
  static let method = "textDocument/codeAction"

  /// Among the states before the present one.
  private static let maximumStates = 5

  let uri: String

  init(_ params: Parameters) throws(ResponseError) { uri = try params.documentURI() }

  func perform(for editor: Editor) async throws -> ListResult {
    let sharing = editor.service.sharing
    var commands: [NoteCommand] = []
    for invitation in sharing.invitations where invitation.direction == .received {
      let name = NoteNews.cut(OneLine.shown(invitation.name), to: 29)
      // The digits stand before the name, which a stranger chooses.
      let code = invitation.code.map { " (both see \($0.prefix(3)) \($0.dropFirst(3)))" } ?? ""
      let params = { (accepts: Bool) -> JSONValue in
        ["invitation": .string(invitation.invitation), "accept": .bool(accepts)]
      }
      commands.append(
        NoteCommand(title: "Accept\(code) the invitation of \(name)", request: "answer", params: params(true)))
      commands.append(NoteCommand(title: "Decline the invitation of \(name)", request: "answer", params: params(false)))
    }
    let file: JSONValue = ["uri": .string(uri)]
    if case .attached? = editor.buffers[uri] {
      commands.append(NoteCommand(title: "Share this note", request: "share", params: file))
      commands += try await states(editor)
    } else {
      commands.append(NoteCommand(title: "Make this file a note", request: "adopt", params: file))
    }
    return ListResult(items: commands.map { ["title": .string($0.title), "command": $0.json] })
  }

  private func states(_ editor: Editor) async throws -> [NoteCommand] {
    let past = try await PastNote(.uri(uri), editor)
    let time = ScreenTime(now: editor.service.clock.date)
    let recent = try past.document.recentStates(obj: past.note.content, limit: Self.maximumStates + 1)
    // Without the present state.
    return recent.dropFirst().map { state in
      NoteCommand(
        title: "Restore the text of \(time.full(state.end))", request: "restore",
        params: ["uri": .string(uri), "heads": JSONValue(state.heads.map(\.description).sorted())])
    }
  }
}

/// `textDocument/codeLens`: shows above the first line the people with whom the note is shared, and those who have it
/// open.
struct CodeLensRequest: EditorRequest {
  static let method = "textDocument/codeLens"

  private static let maximumWidth = 60

  let uri: String

  init(_ params: Parameters) throws(ResponseError) { uri = try params.documentURI() }

  func perform(for editor: Editor) async throws -> ListResult {
    guard case .attached(let binding)? = editor.buffers[uri] else { return ListResult(items: []) }
    let here = binding.service.presenceTracker.people(in: binding.id).map(\.name)
    let shared = binding.service.sharing.people(on: binding.id).map(\.name).filter { !here.contains($0) }
    let words = [Self.words("Here: ", here), Self.words("Shared with: ", shared), "Share this note"]
    let title = words.compactMap(\.self).joined(separator: " · ")
    let command = NoteCommand(title: title, request: "share", params: ["uri": .string(uri)])
    let start = Position(line: 0, character: 0)
    return ListResult(items: [["range": PositionRange(start: start, end: start).json, "command": command.json]])
  }

  private static func words(_ what: String, _ names: [String]) -> String? {
    guard !names.isEmpty else { return nil }
    return what + DisplayWidth.cut(names.map(OneLine.shown).joined(separator: ", "), to: maximumWidth)
  }
}
