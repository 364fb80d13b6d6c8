/// The id of one operation inside a document: a counter and an actor.
///
/// `actor` is an index into the document's own actor table, in the order in which the actors first appeared, so an
/// `OpId` means nothing outside of its document, and comparing two of them in CRDT order needs the table
/// (`ActorTable`). Counter 0 is no operation: it means the root object or the head of a sequence.
struct OpId: Hashable, Sendable {
  var counter: UInt32
  var actor: UInt32

  /// The root object, or the head of a sequence.
  static let zero = OpId(counter: 0, actor: 0)

  var isZero: Bool { counter == 0 }
}
