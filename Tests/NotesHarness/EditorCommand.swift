/// Commands of both plugins that concern more than the text: files, meetings, searching.
public enum EditorCommand: Sendable {
  case find(String)
  case importFile(String)
  case export(String, replacing: Bool)
  case merge(String)
  case meeting(String)
  case addItem(String)
  /// Counted from 1.
  case moveItem(Int)

  /// An ex command.
  var vim: String {
    switch self {
    case .find(let words): "NotesFind \(words)"
    case .importFile(let path): "NotesImport \(path)"
    case .export(let path, let replacing): "NotesExport\(replacing ? "!" : "") \(path)"
    case .merge(let path): "NotesMerge \(path)"
    case .meeting(let title): "NotesMeeting \(title)"
    case .addItem(let title): "NotesItem \(title)"
    case .moveItem(let place): "NotesMoveItem \(place)"
    }
  }

  /// A call; `quoted` writes a string of Lisp.
  func lisp(_ quoted: (String) -> String) -> String {
    switch self {
    case .find(let words): "(notes-find \(quoted(words)))"
    case .importFile(let path): "(notes-import \(quoted(path)))"
    case .export(let path, let replacing): "(notes-export \(quoted(path)) \(replacing ? "t" : "nil"))"
    case .merge(let path): "(notes-merge \(quoted(path)))"
    case .meeting(let title): "(notes-meeting \(quoted(title)))"
    case .addItem(let title): "(notes-item \(quoted(title)))"
    case .moveItem(let place): "(notes-move-item \(place))"
    }
  }
}
