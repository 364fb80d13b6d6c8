import AutomergeRepo
import JSONRPC

/// A message that an editor may send: its method, and its parameters as values.
///
/// To add one, write a type that conforms to one of the protocols below, and name it in `EditorProtocol.messages`.
@AutomergeRepo
protocol EditorMessage {
  static var method: String { get }

  /// Throws if a parameter is missing or wrong.
  init(_ params: Parameters) throws(ResponseError)
}

/// A request that is carried out in a task of its own.
@AutomergeRepo
protocol EditorRequest: EditorMessage {
  associatedtype Result: RequestResult

  func perform(for editor: Editor) async throws -> Result
}

/// A request that needs the network, which one process of a person has.
@AutomergeRepo
protocol NetworkRequest: EditorRequest {}

/// A request about a note that needs the network: the process that has it reads the note from the store.
@AutomergeRepo
protocol SharedNoteRequest: NetworkRequest {
  var note: NoteReference { get }
  /// Whether a file that is not a note becomes one.
  static var adoptsFiles: Bool { get }
}

extension SharedNoteRequest {
  static var adoptsFiles: Bool { false }
}

/// A request about the text of one buffer. Awaits nothing, since its order among the edits of the buffer matters.
@AutomergeRepo
protocol BufferRequest: EditorMessage {
  associatedtype Result: RequestResult

  var uri: String { get }

  func perform(on binding: BufferBinding) throws -> Result
}

/// A notification that is handled in its turn. Awaits nothing.
@AutomergeRepo
protocol EditorNotification: EditorMessage {
  func handle(for editor: Editor)
}

/// A notification about one buffer of a note; those about other buffers have no effect. Awaits nothing.
@AutomergeRepo
protocol BufferNotification: EditorMessage {
  var uri: String { get }

  func handle(by binding: BufferBinding)
}

/// The result of a request.
protocol RequestResult {
  var json: JSONValue { get throws }
  /// The JSON's text, in UTF-8.
  var encoded: [UInt8] { get throws }
}

extension RequestResult {
  var encoded: [UInt8] { get throws { try json.encoded() } }
}

/// The result of a request whose outcome is only a message to the person.
struct SaidResult: RequestResult {
  let message: String

  init(_ message: String) { self.message = message }

  var json: JSONValue { ["message": .string(message)] }
}

/// The result of a request that has nothing to return.
struct NoResult: RequestResult {
  var json: JSONValue { [:] }
}
