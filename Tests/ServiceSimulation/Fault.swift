/// What goes wrong beside the steps of a run. A kind happens only where it is asked for and draws from a random stream of its own, so
/// a seed means without it what it meant before.
public enum Fault: String, CaseIterable, Sendable {
  /// What one person's machine sends to another's is lost for a while without notice; then the connection ends.
  case oneWayLoss
  /// What one person's machine sends to another's is on its way for seconds.
  case delay
  /// A connection breaks and is restored at once: messages in transit are sent twice, and some arrive twice.
  case resending
  /// A person's machine sleeps.
  case sleep
  /// The calendar of a person's machine jumps, by up to a year.
  case clockJump
  /// An editor takes up to half a second for each message.
  case slowEditor
  /// An editor reads nothing for seconds.
  case hungEditor
  /// A person's store takes nothing for seconds; in two of three cases the rest of the disk does not either. Then the service warns
  /// that words may stand twice if it is killed, and it is not killed.
  case failingDisk
  /// A person's machine loses its power: services and editors end, and journals keep any part of what was not synced.
  case powerLoss
  /// A peer without a grant asks for the note and sends nonsense.
  case stranger
  /// A person takes back what they typed or deleted.
  case undo

  /// What the program does not stand yet. While a person's store takes nothing, another service that opens the note before the two
  /// are connected does not know what a working file holds. It takes words in it for another program's that the note has already: they
  /// stand twice, or come back though they were deleted.
  public static let unmended: Set<Fault> = [.failingDisk]
}
