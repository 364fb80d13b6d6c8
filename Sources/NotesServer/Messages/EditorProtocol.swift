import AutomergeRepo

/// The messages that an editor may send, and when each is handled. EditorProtocol.md explains them.
@AutomergeRepo
enum EditorProtocol {
  /// When a message is handled. The editor's messages are read one after the other, in the order in which they were sent.
  enum Order {
    /// Before all others, once.
    case first(InitializeRequest.Type)
    /// Stores everything that the earlier messages did. Only `exit` may follow.
    case last(ShutdownRequest.Type)
    /// At any time.
    case exit(ExitNotification.Type)
    /// Before the next message is read.
    case inTurn(any EditorNotification.Type)
    /// In turn among the messages about its buffer. They wait while the note is being opened, or a large text compared.
    case inBuffer(any BufferNotification.Type)
    /// Like `inBuffer`, once the undo history of earlier processes has been read. Typing that the editor sends later must not
    /// be undone.
    case withUndo(any BufferRequest.Type)
    /// In a task of its own. By then the documents have everything that the editor sent earlier; later messages do not
    /// wait.
    case concurrent(any EditorRequest.Type)
    /// Like `concurrent`, in the process with the network.
    case network(any NetworkRequest.Type)
    /// Like `concurrent`. Commands, which run in a process without an editor, may ask a running service for it, too.
    case shared(any EditorRequest.Type)
  }

  static let messages: [Order] = [
    .first(InitializeRequest.self),
    .last(ShutdownRequest.self),
    .exit(ExitNotification.self),

    .inTurn(DidOpenNotification.self),
    .inTurn(DidChangeNotification.self),
    .inTurn(DidCloseNotification.self),
    .inTurn(DidChangeWatchedFilesNotification.self),
    .inBuffer(DidSaveNotification.self),
    .inBuffer(FileNotification.self),
    .inBuffer(AckNotification.self),
    .inBuffer(CursorNotification.self),
    .withUndo(UndoRequest.self),
    .withUndo(RedoRequest.self),
    .withUndo(PointRequest.self),

    .concurrent(InlayHintRequest.self),
    .concurrent(DocumentHighlightRequest.self),
    .concurrent(HoverRequest.self),
    .concurrent(DocumentSymbolRequest.self),
    .concurrent(CompletionRequest.self),
    .concurrent(DefinitionRequest.self),
    .concurrent(ReferencesRequest.self),
    .concurrent(RenameLinksRequest.self),
    .concurrent(CodeActionRequest.self),
    .concurrent(CodeLensRequest.self),
    .concurrent(ExecuteCommandRequest.self),

    .concurrent(ListRequest.self),
    .concurrent(SymbolRequest.self),
    .concurrent(CreateRequest.self),
    .concurrent(AdoptRequest.self),
    .concurrent(OpenRequest.self),
    .concurrent(CopyRequest.self),
    .concurrent(RenameRequest.self),
    .concurrent(DeleteRequest.self),
    .concurrent(UndeleteRequest.self),
    .concurrent(PurgeRequest.self),
    .concurrent(RecoveredRequest.self),
    .concurrent(TutorialRequest.self),

    .concurrent(ExportRequest.self),
    .concurrent(ImportRequest.self),
    .concurrent(TextsRequest.self),
    .concurrent(MergeRequest.self),

    .concurrent(ItemsRequest.self),
    .concurrent(AddItemRequest.self),
    .concurrent(MoveItemRequest.self),

    .network(ShareRequest.self),
    .network(TicketRequest.self),
    .network(JoinRequest.self),
    .network(UnshareRequest.self),
    .network(PeopleRequest.self),
    .network(SetAccessRequest.self),
    .network(RemoveRequest.self),
    .network(PeersRequest.self),
    .network(InviteRequest.self),
    .network(InvitationsRequest.self),
    .network(AnswerRequest.self),
    .network(VerifyRequest.self),
    .network(TrustRequest.self),
    .network(ConnectRequest.self),
    .network(DisconnectRequest.self),
    .network(PublishRequest.self),
    .concurrent(SetNameRequest.self),
    .shared(StatusRequest.self),

    .concurrent(HistoryRequest.self),
    .concurrent(TextAtRequest.self),
    .concurrent(DiffRequest.self),
    .concurrent(BlameRequest.self),
    .concurrent(RestoreRequest.self),
  ]

  /// The messages by their methods.
  static let table = Dictionary(uniqueKeysWithValues: messages.map { ($0.method, $0) })
}

extension EditorProtocol.Order {
  @AutomergeRepo
  var method: String {
    switch self {
    case .first(let type): type.method
    case .last(let type): type.method
    case .exit(let type): type.method
    case .inTurn(let type): type.method
    case .inBuffer(let type): type.method
    case .withUndo(let type): type.method
    case .concurrent(let type), .shared(let type): type.method
    case .network(let type): type.method
    }
  }
}
