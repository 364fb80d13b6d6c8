/// Why an edit or a read of a document was refused.
public enum DocError: Error, Hashable, Sendable {
  /// The document has no such object, or none yet at the heads where it is isolated and an edit was tried.
  case unknownObject(ObjId)
  /// The object is not of the type that the call needs.
  case wrongType(ObjId, ObjType)
  /// The index is past the end.
  case outOfBounds(UInt64)
  case invalidCursor
  /// The cursor's element does not belong to this object.
  case unknownCursor
  /// The document has no such change.
  case unknownChange(ChangeHash)
  /// Only counters can be incremented.
  case notACounter
  /// A dictionary at this path whose keys are numbers. The keys of a map are strings.
  case numbersAsKeys(String)
  /// A value that cannot be stored.
  case invalidValue
  /// UTF-8 that is not valid.
  case invalidUTF8
  /// The text or the number of operations has reached its limit.
  case tooLarge
  /// No block begins at this index.
  case notABlock(UInt64)
  /// The call works on the present, but the document is isolated at earlier heads; call `integrate` first.
  case isolated
}

/// Why bytes could not be applied to a document.
public enum LoadError: Error, Hashable, Sendable {
  case format(FormatError)
  /// The change's bytes are not the canonical ones, so a saved document could not preserve it.
  case notReproducible(ChangeHash)
  /// Two copies of the document have different changes of this one actor; this is a change of the other copy. The two
  /// can no longer be merged. Each copy needs an actor of its own, as `fork` and loading give it one.
  case equalActors(ActorId, ChangeHash)
  /// The change refers to something that does not exist, or contradicts what does.
  case inconsistent(ChangeHash, Inconsistency)
  /// A change in this replica's name that this replica did not make.
  case forged(ChangeHash)
  /// A document whose changes do not fit together: broken links, or hashes that differ from the stated ones.
  case inconsistentDocument(Inconsistency)

  public enum Inconsistency: Hashable, Sendable {
    /// An actor's changes are not numbered 1, 2, 3, …, or two share a number.
    case sequence
    /// Operation counters overlap, leave gaps or decrease.
    case counters
    case object, element, predecessor
    case dependency, heads, order, size
  }
}

extension FormatError: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(String(describing: self)) }
}
