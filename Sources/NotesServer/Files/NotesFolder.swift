/// The notes directory: by the name that its person gave it, and by the one to which symbolic links lead.
///
/// The paths of notes begin with the given name. An editor may know a file by the other one: a program that was started in a linked
/// folder learns only that.
public struct NotesFolder: Hashable, Sendable {
  public let path: String
  private let realPath: String

  /// - Parameter realPath: the path without symbolic links, if it is another one
  public init(_ path: String, realPath: String? = nil) { (self.path, self.realPath) = (path, realPath ?? path) }

  /// The path of a file by the given name of the folder; the path itself if the file is in another folder.
  func named(_ path: String) -> String {
    path.hasPrefix(realPath + "/") ? self.path + path.dropFirst(realPath.count) : path
  }

  /// Where a file is, as `FileURI.places` says it, and in this folder by its given name.
  func places(uri: String) -> [String] {
    let places = FileURI.places(uri: uri)
    return places + places.map(named).filter { !places.contains($0) }.prefix(1)
  }

  /// The path under which a file becomes a note's.
  func place(uri: String) -> String? { FileURI.places(uri: uri).last.map(named) }
}
