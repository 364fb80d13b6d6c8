import NotesServer
import Store

extension UnsentFiles: UnsentFileAccess {}
