import JSONRPC

/// What to tell a person about the whole store: the kind `store` of `notes/event`.
public enum StoreNews: Sendable {
  /// The store's file was damaged. It is kept, and a new store has everything that could be read of it.
  case damaged
  /// The store's file was empty. It is kept, and a new store has begun.
  case empty

  /// One line; the doctor says where the file is.
  var message: String {
    switch self {
    case .damaged: "WARNING: notes.db was damaged; run notes-lsp doctor"
    case .empty: "WARNING: notes.db was empty; run notes-lsp doctor"
    }
  }

  var event: JSONValue { ["kind": "store", "message": .string(message), "level": EventLine.Level.urgent.json] }
}
