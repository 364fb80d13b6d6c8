/// What a peer says of a call in the handshake, so that both ends of several links decide alike which of them stays.
package struct CallMark: Hashable, Sendable {
  /// No process makes so many calls. A peer that claims it has no mark.
  private static let end: UInt64 = 1 << 53

  /// A random number of the sender's process.
  package var run: UInt64
  /// One more than that of any link to this peer that the caller has seen when it calls.
  package var round: UInt64
  /// The calls of the caller's process are numbered in their order.
  package var number: UInt64

  package init(run: UInt64, round: UInt64 = 0, number: UInt64 = 0) {
    (self.run, self.round, self.number) = (run, round, number)
  }

  var cbor: CBOR { .record(["run": .unsigned(run), "round": .unsigned(round), "number": .unsigned(number)]) }

  init?(_ value: CBOR) {
    guard let run = value["run"]?.unsigned, let round = value["round"]?.unsigned, round < Self.end,
      let number = value["number"]?.unsigned, number < Self.end
    else { return nil }
    self.init(run: run, round: round, number: number)
  }
}
