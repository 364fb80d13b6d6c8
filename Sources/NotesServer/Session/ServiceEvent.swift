import AutomergeRepo
import JSONRPC

/// What a service reports, as one stream: its editor observes it, and so do the service's own parts.
///
/// Observers are called at once, in the turn of the loop in which the event happened.
enum ServiceEvent {
  /// People, their access, or the state of the network have changed.
  case sharingChanged(SharingEvent)
  /// This person's tickets for the document no longer work. Only the process with the network reports it.
  case ticketsRevoked(DocumentId)
  /// The list of people in a document, or their carets, have changed.
  case caretsChanged(DocumentId)
  /// An editor of this process has opened a note, or closed it.
  case openNotesChanged(DocumentId)
  /// Another person has opened the document, or closed it.
  case arrived(Presence.Person, in: DocumentId, isHere: Bool)
  /// Another person points at a part of an open note's text.
  case pointed(Presence.Person, in: DocumentId, CursorRange, text: String)
  /// The list of notes has changed.
  case catalogueChanged(Notebook.Change)
  /// Other people have changed a meeting, or a note that is not open.
  case changedByOthers(DocumentId)
  /// Another process of this person passes on an event: the parameters of a `notes/event`.
  case heardFromSibling(JSONValue)
  /// Another process of this person has stored a record of the document, and this one has read it.
  case recordRead(DocumentId)
  /// Another person has deleted the note for everyone, and its file is about to be removed. `isNews` if this person was
  /// not told of it.
  case deletedForEveryone(DocHandle, isNews: Bool)
  /// Words that a read-only note does not accept were kept in the file at this path.
  case refused(NoteKey, RecoveredText, path: String)
  /// Recovered texts that the person does not know of: the parameters of a `notes/event`.
  case recovered(JSONValue)
  /// Whether all recovered texts of the document are stored may have changed.
  case heldTextsChanged(DocumentId)
  /// The file of a note is not UTF-8 any more, or is again.
  case fileIsText(Bool, NoteKey)
  /// This person has a new name.
  case renamed
  /// A note's record has become another document's; its buffers follow.
  case moved(from: DocHandle, to: DocHandle)
  /// A host's move of a note is complete; only the process with the network reports it.
  case followed(NoteMove)
  /// Other people have changed a meeting: items may have been added, deleted or moved.
  case agendaChanged(DocHandle)
  /// What a person must know of a file, such as why it is not kept equal to its note at present.
  case fileNews(message: String)
  /// Other people have changed the document of a note that is open: its text may be another one.
  case changedWhileOpen(DocHandle)
}
