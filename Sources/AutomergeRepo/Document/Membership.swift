/// Where a handle's document belongs.
struct Membership {
  /// The repo, while the document belongs to it.
  weak var repo: Repo?
  /// Whether the document was deleted here.
  var isDeleted = false
}
