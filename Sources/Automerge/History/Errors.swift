/// Why an edit or a question to a document was refused.
public enum DocError: Error, Hashable, Sendable {
  /// No such object.
  case unknownObject(ObjId)
  /// The object is not of the type that this is for.
  case wrongType(ObjId, ObjType)
  /// The place is past the end.
  case outOfBounds(UInt64)
  case invalidCursor
  /// The cursor's element is not of this object.
  case unknownCursor
  /// No such change.
  case unknownChange(ChangeHash)
  /// Only counters can be incremented.
  case notACounter
  /// A dictionary whose keys are numbers, at this path. The keys of a map are strings.
  case numbersAsKeys(String)
  /// A value that cannot be stored.
  case invalidValue
  /// UTF-8 that is not valid.
  case invalidUTF8
  /// The text or the number of operations is at its limit.
  case tooLarge
  /// No block begins at this index.
  case notABlock(UInt64)
  /// This is done to the present, but an earlier state is worked on; `integrate` first.
  case isolated
}

/// Why bytes could not be taken into a document.
public enum LoadError: Error, Hashable, Sendable {
  case format(FormatError)
  /// The change's bytes are not the canonical ones, so it could not be kept in a saved document.
  case notReproducible(ChangeHash)
  /// Two copies of the document have been changed in the name of this one actor, differently: this is a change of the other
  /// copy. The two can no longer be merged; each copy needs an actor of its own, as `fork` and loading give it one.
  case equalActors(ActorId, ChangeHash)
  /// The change refers to something that is not there, or contradicts what is.
  case inconsistent(ChangeHash, Inconsistency)
  /// A change that this replica did not make, in its own name.
  case forged(ChangeHash)
  /// A document whose changes do not come together: broken links, or hashes that differ from the ones it states.
  case inconsistentDocument(Inconsistency)

  public enum Inconsistency: Hashable, Sendable {
    /// An actor's changes are not numbered 1, 2, 3, …, or two share a number.
    case sequence
    /// Operation counters overlap, leave gaps or go back.
    case counters
    case object, element, predecessor
    case dependency, heads, order, size
  }
}

extension FormatError: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(String(describing: self)) }
}
