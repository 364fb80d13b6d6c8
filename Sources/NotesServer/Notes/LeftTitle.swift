import Automerge

/// A title that a person gave to an agenda item while another moved it: it stands in a map that the item's map was made of, or
/// in one made of the same map, and has to be given to the item once more.
///
///     root ──move──► a ──move──► item        what counts
///       └────move──► copy                    what several people made at the same moment
///
/// Every move records the title that its author knew: the one that the new map began with. A map with another title was given
/// it by a person who did not know of the move.
struct LeftTitle: Equatable {
  var title: String
  /// The author of the move beside which the title was given, whose process is the first to bring it.
  var mover: ActorId

  /// More moves than this of one item are not looked at.
  private static let mostMoves = 256

  /// The maps that an item's map was made of, itself first.
  ///
  /// - Complexity: O(m) in the moves
  static func course(of object: ObjId, in meeting: MeetingDocument) -> [ObjId] {
    var course = [object]
    // What others write is not believed: what was made is younger than what it was made of.
    while course.count <= mostMoves, let last = course.last, let source = meeting.source(of: last), source < last {
      course.append(source)
    }
    return course
  }

  /// The titles on which `find` depends. As long as they are the same, so is what it finds.
  static func titles(of item: MeetingDocument.Item, in meeting: MeetingDocument) -> [ObjId: String] {
    let objects = ([item.object] + item.copies.map(\.object)).flatMap { course(of: $0, in: meeting) }
    return Dictionary(objects.map { ($0, meeting.title(of: $0)) }) { first, _ in first }
  }

  /// Nil if no title was left behind, or the item was given one since.
  static func find(of item: MeetingDocument.Item, in meeting: MeetingDocument) -> LeftTitle? {
    let counted = course(of: item.object, in: meeting)
    guard !isNamed(item.object, meeting) else { return nil }
    if let found = besideMoves(counted, meeting) { return found.title == item.title ? nil : found }
    for copy in item.copies {
      let other = course(of: copy.object, in: meeting)
      // Both were named: the name of the one that counts is the item's.
      guard !counted.prefix(while: { !other.contains($0) }).contains(where: { isNamed($0, meeting) }) else { continue }
      if let found = besideMoves(other, meeting), found.title != item.title { return found }
      let branch = other.prefix { !counted.contains($0) }
      guard branch.contains(where: { isNamed($0, meeting) }) else { continue }
      let title = meeting.title(of: copy.object)
      if title != item.title, let mover = copy.object.actor { return LeftTitle(title: title, mover: mover) }
    }
    return nil
  }

  /// The title that was given to one of these maps beside the move of which the one before it came.
  private static func besideMoves(_ course: [ObjId], _ meeting: MeetingDocument) -> LeftTitle? {
    for (made, source) in zip(course, course.dropFirst()) {
      guard let known = meeting.titleWhenMade(of: made), let mover = made.actor else { return nil }
      let title = meeting.title(of: source)
      if title != known { return LeftTitle(title: title, mover: mover) }
      // It was given this title, and every later move knew of it.
      if meeting.titleWhenMade(of: source) != known { return nil }
    }
    return nil
  }

  /// Whether a map has been given another title since it was made.
  private static func isNamed(_ object: ObjId, _ meeting: MeetingDocument) -> Bool {
    meeting.titleWhenMade(of: object).map { $0 != meeting.title(of: object) } ?? false
  }
}
