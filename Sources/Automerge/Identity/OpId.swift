/// The id of one operation inside a document: a counter, and whose.
///
/// `actor` is an index into the document's own actor table, in the order in which the actors were met, so an `OpId`
/// means nothing outside its document, and comparing two of them for CRDT order needs the table (`ActorTable`).
/// Counter 0 is no operation: it stands for the root object and for the head of a sequence.
struct OpId: Hashable, Sendable {
  var counter: UInt32
  var actor: UInt32

  /// The root object, or the head of a sequence.
  static let zero = OpId(counter: 0, actor: 0)

  var isZero: Bool { counter == 0 }
}
