/// An object that a bound text or counter belongs to.
struct BoundObject {
  private let core: DocumentCore
  private let object: ObjId

  init(_ object: ObjId, in core: DocumentCore) { (self.object, self.core) = (object, core) }

  /// Whether the object was deleted. Not said of a past state at which the document is isolated, to which it returns.
  /// - Complexity: O(n) in the objects around it, and in the operations since the last call
  var isGone: Bool {
    guard core.isolation == nil else { return false }
    guard let id = core.opId(object) else { return true }
    core.lookups.parents.update(from: core)
    return Whereabouts(core, at: .now, isNow: true, encoding: .unicodeScalar).isGone(id)
  }
}
