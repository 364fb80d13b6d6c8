import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// Access to a note: asking, changing and enforcing it, and telling the person when the host changes it.
extension Editor {
  private enum AccessName: String, CaseIterable { case write, read, none }

  func people(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "Not a note.") }
    let handle = try await find(record.id)
    return [
      "people": .array(
        service.sharing.people(on: record.id).map { PersonStatus($0, on: handle).json(withAccess: true) })
    ]
  }

  func setAccess(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "Not a note.") }
    let peer = try peer(params)
    let access = Access(rawValue: try params.choice("access", as: AccessName.self).rawValue) ?? .none
    if let host = service.sharing.host(of: record.id), host.peer == peer {
      throw NotesError(.refused, "\(host.name) shares this note with you; unshare it to leave.")
    }
    guard try await service.sharing.setAccess(access, to: record.id, for: peer) else {
      throw NotesError(.notFound, "Not shared with this person by you.")
    }
    return [:]
  }

  /// A new note of this person's own with the text of another note, as the editor shows it.
  func copy(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "Not a note.") }
    let handle = try await find(record.id)
    guard let note = NoteDocument(handle.document, item: record.item) else {
      throw NotesError(.notANote, "Copy a meeting one item at a time.")
    }
    let text = buffers.attachment(at: record.key)?.clientText ?? DocumentText(note).allUTF8
    let title = try params.stringIfPresent("title") ?? "\(record.title) copy"
    let directory = try params.stringIfPresent("directory") ?? service.notesDirectory
    return place(
      try await writeWorkingFile(for: makeDocument(title: title, text: text), title: title, directory: directory))
  }

  /// The access that this person can grant: no more than they have.
  func offeredAccess(_ access: Access, to id: DocumentId) -> Access { min(access, service.sharing.access(to: id)) }

}

extension Service {
  /// Whether this person may change a document: a change that the host refuses is not made here.
  func mayWrite(_ id: DocumentId) -> Bool { sharing.access(to: id) == .write }

  func checkMayWrite(_ id: DocumentId) throws(NotesError) {
    guard !mayWrite(id) else { return }
    let host = sharing.host(of: id)?.name ?? "the host"
    throw NotesError(.readOnly, "Read-only: ask \(host) for access, or make a copy.")
  }
}
