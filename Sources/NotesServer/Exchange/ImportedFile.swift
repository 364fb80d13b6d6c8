import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The content of a file to import. Its bytes decide the kind; a name that promises a document is no name of a text.
enum ImportedFile: Sendable {
  /// A document with its history, as far as it could be read; the id if the file names it.
  case document(ForeignFile, id: DocumentId?)
  /// A text without a history.
  case text([UInt8], title: String?)
  case meeting(MeetingContent)

  /// The magic bytes of every Automerge file.
  static let magic: [UInt8] = [0x85, 0x6F, 0x4A, 0x83]

  /// How the names of documents end.
  private static let documentEndings = ["automerge", "meetingnotes"]

  /// Reads a file's bytes, off the loop: a large document takes time.
  ///
  /// - Parameter name: the file's name; "" if it does not matter
  @concurrent
  static func read(_ bytes: [UInt8], named name: String = "") async throws -> ImportedFile {
    if bytes.starts(with: magic) { return .document(try load(Data(bytes)), id: nil) }
    if let file = MeetingNotesFile(bytes) { return .document(try load(file.data), id: file.id) }
    guard !beginsAsMeetingNotes(bytes) else {
      throw NotesError(.notANote, "This .meetingnotes file is damaged, or a part of it is missing.")
    }
    guard !documentEndings.contains((name as NSString).pathExtension.lowercased()) else {
      throw NotesError(
        .notANote,
        bytes.isEmpty
          ? "The file is empty, so it is not an Automerge document."
          : "Not an Automerge document. Named .md, it can be imported.")
    }
    if let json = json(bytes) { return try content(of: json) }
    let text = try FileContents(reading: bytes).text
    try NotesError.checkIsText(text)
    return .text(text, title: nil)
  }

  /// Whether the bytes begin with a CBOR map whose first key is one of a `.meetingnotes` file. No UTF-8 begins like that.
  private static func beginsAsMeetingNotes(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, first >> 5 == 5 else { return false }
    return ["id", "data"].contains { key in bytes.dropFirst().starts(with: [0x60 | UInt8(key.utf8.count)] + key.utf8) }
  }

  private static func load(_ data: Data) throws(NotesError) -> ForeignFile {
    do {
      return try ForeignFile.load(data)
    } catch {
      throw NotesError(
        .notANote, "The file is damaged, or is not an Automerge document: \(error.localizedDescription).")
    }
  }

  private static func json(_ bytes: [UInt8]) -> JSONObject? {
    guard bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else { return nil }
    return (try? JSONValue(parsing: bytes))?.objectValue
  }

  private static func content(of json: JSONObject) throws(NotesError) -> ImportedFile {
    if let meeting = MeetingContent(json) { return .meeting(meeting) }
    guard let text = json["text"]?.stringValue ?? json["content"]?.stringValue else {
      throw NotesError(.notANote, "Not a note: this JSON has neither \"text\" nor \"agendas\".")
    }
    guard !text.utf8.contains(0) else { throw NotesError(.notText, "The text contains NUL.") }
    return .text(Array(text.utf8), title: json["title"]?.stringValue)
  }
}

extension ForeignFile.LeftOut {
  /// As a sentence's end, short enough for the last line of an editor behind another sentence.
  var summary: String {
    switch self {
    case .damagedPart: "left out a damaged part"
    case .changes(let count): "left out \(NoteNews.number(count, "change"))"
    }
  }

  /// As an object of a sentence.
  var words: String {
    switch self {
    case .damagedPart: "a damaged part of the file"
    case .changes(let count):
      "\(NoteNews.number(count, "change")) that \(count == 1 ? "builds" : "build") on missing ones"
    }
  }
}
