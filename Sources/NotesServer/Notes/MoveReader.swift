import Automerge

/// Reads the maps that agenda items were made from, up to a limit: peers decide how many there are, and the service does nothing
/// else meanwhile.
final class MoveReader {
  /// The limit is reached.
  struct Exhausted: Error {}

  /// In values, of which about 2,000 are read in a millisecond.
  private static let maximumCost = 4000
  /// A title of the past costs more, and more still in a long history, in which that state must be found.
  private static let costOfPast = 10
  private static let changesPerCost = 200
  private static let maximumCostOfPast = 1500
  /// Looking up a change encodes it.
  private static let bytesPerCost = 256

  let meeting: MeetingDocument
  private var left = maximumCost
  private var titlesWhenMade: [ObjId: String] = [:]

  init(_ meeting: MeetingDocument) { self.meeting = meeting }

  /// Whether nothing has been read yet.
  var isUnused: Bool { left == Self.maximumCost }

  private func spend(_ cost: Int) throws(Exhausted) {
    left -= cost
    guard left >= 0 else { throw Exhausted() }
  }

  /// The map that an item's map was made from; nil if it is not older.
  func source(of object: ObjId) throws(Exhausted) -> ObjId? {
    try spend(1)
    // Peers may claim any source: a real one is older than the map made from it.
    return meeting.source(of: object).flatMap { $0 < object ? $0 : nil }
  }

  func title(of object: ObjId) throws(Exhausted) -> String {
    try spend(2)
    return meeting.title(of: object)
  }

  func titleWhenMade(of object: ObjId) throws(Exhausted) -> String? {
    if let known = titlesWhenMade[object] { return known }
    let document = meeting.document
    try spend(min(Self.costOfPast + document.changeCount / Self.changesPerCost, Self.maximumCostOfPast))
    guard let change = document.change(thatMade: object) else { return nil }
    try spend(change.bytes.count / Self.bytesPerCost)
    let title = meeting.title(of: object, at: [change.hash])
    titlesWhenMade[object] = title
    return title
  }

  /// Whether a person has renamed a map since it was made.
  func isNamed(_ object: ObjId) throws(Exhausted) -> Bool {
    guard let first = try titleWhenMade(of: object), try first != title(of: object) else { return false }
    try spend(meeting.keyCount(of: object))
    return !meeting.isTitleBrought(to: object)
  }

  func isAnyNamed(_ objects: some Sequence<ObjId>) throws(Exhausted) -> Bool {
    for object in objects where try isNamed(object) { return true }
    return false
  }

  /// The titles that were last brought to these maps or, if none was to the first, to the next, by the maps they came from.
  func titlesBrought(to objects: [ObjId]) throws(Exhausted) -> [String: String] {
    var titles: [String: String] = [:]
    for object in objects {
      try spend(meeting.keyCount(of: object))
      titles.merge(meeting.titlesBrought(to: object)) { first, _ in first }
    }
    return titles
  }
}
