import AutomergeRepo
import JSONRPC

/// `initialize`: the editor's client says what it supports, and the service answers what it supports.
struct InitializeRequest: EditorMessage {
  static let method = "initialize"

  let capabilities: ClientCapabilities
  /// The version of the notes protocol that the client speaks.
  let version: Int
  /// This person's name, and the program that sent it.
  let user: (name: String, client: String)?
  /// Whether the client asks a person without a name for one.
  let introduces: Bool
  /// The number of this person's color.
  let color: Int?
  /// The editor's process.
  let process: Int32?

  init(_ params: Parameters) throws(ResponseError) {
    let offered = try params.objectIfPresent("capabilities")
    let general = try offered?.objectIfPresent("general")
    let options = try params.objectIfPresent("initializationOptions")
    let notes = try options?.objectIfPresent("notes")
    capabilities = ClientCapabilities(
      encoding: PositionEncoding(offered: try general?.stringsIfPresent("positionEncodings")),
      speaksNotes: notes != nil, takesEdits: try options?.boolIfPresent("applyEdits") ?? false,
      refreshesHints: offered?.value["workspace"]?["inlayHint"]?["refreshSupport"]?.boolValue ?? false,
      showsDocuments: offered?.value["window"]?["showDocument"]?["support"]?.boolValue ?? false,
      showsProgress: offered?.value["window"]?["workDoneProgress"]?.boolValue ?? false,
      reordersChanges: params.value["clientInfo"]?["name"]?.stringValue == "helix")
    version = try notes?.intIfPresent("protocol") ?? 1
    if let name = try notes?.stringIfPresent("userName") {
      user = (name, String((try notes?.stringIfPresent("client") ?? "").prefix { $0 != " " }))
    } else {
      user = nil
    }
    introduces = try notes?.boolIfPresent("introduces") ?? false
    color = try notes?.intIfPresent("color")
    process = try params.intIfPresent("processId").flatMap { Int32(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// The service's capabilities, and this person's peer id and name.
  struct Result: RequestResult {
    let encoding: PositionEncoding
    /// Whether each change must be the full text.
    let wantsFullTexts: Bool
    let run: String
    let peer: PeerId
    let name: String
    /// Whether this person's name is still unknown, so that the client should ask for it.
    let asksName: Bool
    /// Where a client keeps words that the service may not have read.
    let unsent: String?

    var json: JSONValue {
      [
        "serverInfo": ["name": "notes-lsp", "version": .string(Service.version)],
        "capabilities": [
          "positionEncoding": .string(encoding.rawValue),
          "textDocumentSync": ["openClose": true, "change": wantsFullTexts ? 1 : 2, "save": true],
          "workspaceSymbolProvider": true, "documentSymbolProvider": true, "hoverProvider": true,
          "documentHighlightProvider": true, "inlayHintProvider": true, "codeActionProvider": true,
          "codeLensProvider": [:],
          "completionProvider": ["triggerCharacters": ["["]], "definitionProvider": true, "referencesProvider": true,
          "renameProvider": true, "executeCommandProvider": ["commands": JSONValue(NoteCommand.all)],
          "experimental": [
            "notes": .object(notes)
          ],
        ],
      ]
    }

    private var notes: JSONObject {
      var notes: JSONObject = [
        "protocol": JSONValue(EditorProtocol.version), "undo": true, "run": .string(run),
        "peerId": .string(peer.description), "peerName": .string(name), "asksName": .bool(asksName),
      ]
      if let unsent { notes["unsent"] = .string(unsent) }
      return notes
    }
  }
}

extension EditorProtocol {
  /// The version of the notes protocol that the service speaks.
  nonisolated static let version = 1
}
