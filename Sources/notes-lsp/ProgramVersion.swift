import NotesServer

/// The program's name and version.
enum ProgramVersion {
  static let description = "notes-lsp \(Service.version) (\(commit))"

  private static var commit: String {
    guard let hash = BuildCommit.hash else { return "commit unknown: not built in a git clone" }
    return "commit \(hash)" + (BuildCommit.isModified ? " and uncommitted changes" : "")
  }
}
