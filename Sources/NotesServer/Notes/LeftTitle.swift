import Automerge

/// A title that a person gave to an agenda item while another person moved the item. It is in the map that the item's
/// map was made from, or in one made from the same map, and must be given to the item again.
///
///     root ──move──► a ──move──► item        what counts
///       └────move──► copy                    what several people made at the same moment
///
/// Every move records the title that its author knew, with which the new map began. If the old map has another title, a
/// person set it who did not know of the move. A brought title is recorded with the map it came from: if a person who
/// still does not know of the move sets another one there, that is brought, too.
struct LeftTitle: Equatable {
  var title: String
  /// The map that has the title.
  var source: ObjId
  /// The author of the concurrent move, whose process is the first to bring the title.
  var mover: ActorId

  /// The most moves of one item that are followed.
  private static let maximumMoves = 256

  /// The maps that an item's map was made from, itself first.
  ///
  /// - Complexity: O(m) in the moves
  static func course(of object: ObjId, in meeting: MeetingDocument) -> [ObjId] {
    var course = [object]
    // Peers may claim any source: a real one is older than the map made from it.
    while course.count <= maximumMoves, let last = course.last, let source = meeting.source(of: last), source < last {
      course.append(source)
    }
    return course
  }

  /// The titles that `find` depends on: its result stays the same while they do.
  static func titles(of item: MeetingDocument.Item, in meeting: MeetingDocument) -> [ObjId: String] {
    let objects = ([item.object] + item.copies.map(\.object)).flatMap { course(of: $0, in: meeting) }
    return Dictionary(objects.map { ($0, meeting.title(of: $0)) }) { first, _ in first }
  }

  /// Nil if no title was left behind, or if the item has been renamed since.
  static func find(of item: MeetingDocument.Item, in meeting: MeetingDocument) -> LeftTitle? {
    let counted = course(of: item.object, in: meeting)
    guard !isNamed(item.object, meeting) else { return nil }
    if let found = besideMoves(counted, counted, meeting) { return found.title == item.title ? nil : found }
    for copy in item.copies {
      let other = course(of: copy.object, in: meeting)
      // If both were renamed, the name in the branch that counts is the item's.
      guard !counted.prefix(while: { !other.contains($0) }).contains(where: { isNamed($0, meeting) }) else { continue }
      if let found = besideMoves(other, counted, meeting), found.title != item.title { return found }
      let branch = other.prefix { !counted.contains($0) }
      guard branch.contains(where: { isNamed($0, meeting) }) else { continue }
      let title = meeting.title(of: copy.object)
      guard title != item.title, title != brought(from: copy.object, to: counted, meeting) else { continue }
      if let mover = copy.object.actor { return LeftTitle(title: title, source: copy.object, mover: mover) }
    }
    return nil
  }

  /// The title given to one of these maps concurrently with the move that made the map before it.
  private static func besideMoves(
    _ course: [ObjId], _ counted: [ObjId], _ meeting: MeetingDocument
  ) -> LeftTitle? {
    for (made, source) in zip(course, course.dropFirst()) {
      guard let known = brought(from: source, to: counted, meeting) ?? meeting.titleWhenMade(of: made),
        let mover = made.actor
      else { return nil }
      let title = meeting.title(of: source)
      if title != known { return LeftTitle(title: title, source: source, mover: mover) }
      // The title was given here, and every later move knew it.
      if isNamed(source, meeting) { return nil }
    }
    return nil
  }

  /// The title that was last brought from a map to the item or to one it was made from.
  private static func brought(from source: ObjId, to counted: [ObjId], _ meeting: MeetingDocument) -> String? {
    for object in counted {
      if let title = meeting.title(broughtFrom: source, to: object) { return title }
    }
    return nil
  }

  /// Whether a person has renamed a map since it was made.
  private static func isNamed(_ object: ObjId, _ meeting: MeetingDocument) -> Bool {
    guard let first = meeting.titleWhenMade(of: object), first != meeting.title(of: object) else { return false }
    return !meeting.isTitleBrought(to: object)
  }
}
