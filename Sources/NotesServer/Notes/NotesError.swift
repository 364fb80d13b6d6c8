import AutomergeRepo
import JSONRPC

/// Why a request about notes failed; the message is one line, fit to show to a person.
struct NotesError: Error, Hashable {
  /// The kinds of errors in the editor protocol.
  enum Kind: String {
    case notFound, notANote, alreadyANote, notText, tooLarge, noSharedHistory
    case ticketInvalid, ticketExpired, ticketUsed, refused, unreachable, timedOut
    case readOnly, storeUnavailable, conflict
  }

  let kind: Kind
  let message: String

  init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

  static let notANote = NotesError(.notANote, "Not a note.")

  static func checkIsText(_ text: [UInt8]) throws(NotesError) {
    guard !text.contains(0) else {
      throw NotesError(.notText, "The text contains NUL characters, so it cannot be a note.")
    }
  }

  var response: ResponseError {
    ResponseError(code: .requestFailed, message: message, data: ["kind": .string(kind.rawValue)])
  }
}

extension ResponseError {
  /// The one place where errors become replies.
  init(replyingTo error: any Error) {
    switch error {
    case let error as ResponseError: self = error
    case let error as NotesError: self = error.response
    case let error as SharingError: self = NotesError(error).response
    case let error as StorageError:
      self = NotesError(.storeUnavailable, "The store cannot be used: \(error).").response
    case NotTextError.invalidUTF8: self = NotesError(.notText, "The file is not UTF-8.").response
    case let error as WorkingFileError: self = NotesError(error).response
    case is CancellationError: self = .requestCancelled
    default: self.init(code: .internalError, message: "Something went wrong in notes-lsp: \(error).")
    }
  }
}

extension NotesError {
  init(_ error: SharingError) {
    switch error {
    case .ticketInvalid: self.init(.ticketInvalid, "This is not a whole ticket. Copy it again, or type all 25 words.")
    case .ticketRevoked: self.init(.ticketInvalid, "This ticket is no longer valid. Ask for a new one.")
    case .ticketExpired: self.init(.ticketExpired, "The ticket has expired. Ask for a new one.")
    case .ticketUsed: self.init(.ticketUsed, "The ticket has been used. Ask for a new one.")
    case .tooManyWrong: self.init(.refused, "Too many wrong tickets. Try this one in a minute.")
    case .refused: self.init(.refused, "The other side refused.")
    case .unreachable(let address): self.init(.unreachable, "No answer from \(address). Are you both online?")
    case .timedOut: self.init(.timedOut, "No answer came in time. The other side may be offline.")
    case .alreadyHere: self.init(.conflict, "You already have this note; it stays as it is.")
    case .noInvitation: self.init(.notFound, "This invitation no longer exists.")
    case .notReached(let reason): self.init(.unreachable, reason)
    case .noAnswer(let reason): self.init(.timedOut, reason)
    case .notAllowed(let reason): self.init(.refused, reason)
    case .networkOff(let reason): self.init(.unreachable, reason)
    }
  }

  init(_ error: WorkingFileError) {
    switch error {
    case .tooLarge(let path): self.init(.tooLarge, "\(path) is too large for a note.")
    case .notAFile(let path): self.init(.notText, "\(path) is not a regular file.")
    case .failed(let path, let reason): self.init(.storeUnavailable, "\(path) cannot be used: \(reason).")
    }
  }
}
