import NotesServer
import Store

extension JournalFiles: JournalAccess {}
