import Automerge
import AutomergeRepo

/// Makes new notes and meetings.
@AutomergeRepo
struct NoteMaker {
  let service: Service

  /// A new document with its first change made, in memory; storing follows.
  ///
  /// - Parameter onBytes: called with how many bytes of the text are in the document
  func document(title: String, text: [UInt8], onBytes: (Int) -> Void = { _ in }) throws -> DocHandle {
    let document = Document(textEncoding: .utf8)
    document.actor = service.identity.actor
    let note = try NoteDocument(
      new: document, title: title, text: text, created: service.clock.date, onBytes: onBytes)
    try note.enter(person: service.identity.person, name: service.identity.name)
    document.commitWith(message: nil, timestamp: service.clock.date)
    return try service.repo.create(document)
  }

  /// Makes a note with its working file, by default in the notes directory.
  func note(
    title: String, text: [UInt8], directory: String? = nil, onBytes: (Int) -> Void = { _ in }
  ) async throws -> NoteRecord {
    try await service.makeWorkingFile(
      for: document(title: title, text: text, onBytes: onBytes), title: title,
      directory: directory ?? service.notesDirectory)
  }

  func meeting(_ content: MeetingContent) async throws -> NoteRecord {
    let document = Document(textEncoding: .utf8)
    document.actor = service.identity.actor
    _ = try MeetingDocument(new: document, content)
    document.commitWith(message: nil, timestamp: service.clock.date)
    return try await NoteOpener(service: service).openMeeting(try service.repo.create(document))
  }
}
