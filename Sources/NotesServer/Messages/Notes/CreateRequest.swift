import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/create`: makes a new note or meeting. Answered when it is stored.
struct CreateRequest: EditorRequest {
  static let method = "notes/create"

  enum Kind: String, CaseIterable { case note, meeting }

  let title: String
  let text: [UInt8]
  let kind: Kind
  let directory: String?

  init(_ params: Parameters) throws(ResponseError) {
    title = try params.string("title").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !title.isEmpty else { throw params.invalid("title", "must not be empty") }
    text = Array((try params.stringIfPresent("text") ?? "").utf8)
    kind = try params.choiceIfPresent("kind") ?? .note
    directory = try params.absolutePathIfPresent("directory")
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    try NotesError.checkIsText(text)
    let maker = NoteMaker(service: editor.service)
    switch kind {
    case .note:
      return NotePlace(try await maker.note(title: title, text: text, directory: directory), editor.service)
    case .meeting:
      let content = MeetingContent(title: title, attendees: [], agendas: [])
      return NotePlace(try await maker.meeting(content), editor.service)
    }
  }
}
