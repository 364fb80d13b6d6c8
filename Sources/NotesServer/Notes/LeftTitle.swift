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
  private static func course(of object: ObjId, _ reader: MoveReader) throws(MoveReader.Exhausted) -> [ObjId] {
    var course = [object]
    while course.count <= maximumMoves, let source = try reader.source(of: course[course.count - 1]) {
      course.append(source)
    }
    return course
  }

  /// The titles that `find` depends on: its result stays the same while they do.
  static func titles(
    of item: MeetingDocument.Item, _ reader: MoveReader
  ) throws(MoveReader.Exhausted) -> [ObjId: String] {
    var titles: [ObjId: String] = [:]
    for start in [item.object] + item.copies.map(\.object) {
      for object in try course(of: start, reader) where titles[object] == nil {
        titles[object] = try reader.title(of: object)
      }
    }
    return titles
  }

  /// Nil if no title was left behind, or if the item has been renamed since.
  static func find(of item: MeetingDocument.Item, _ reader: MoveReader) throws(MoveReader.Exhausted) -> LeftTitle? {
    let counted = try course(of: item.object, reader)
    guard try !reader.isNamed(item.object) else { return nil }
    let brought = try reader.titlesBrought(to: counted)
    if let found = try besideMoves(counted, brought, reader) { return found.title == item.title ? nil : found }
    let ofItem = Set(counted)
    for copy in item.copies {
      let other = try course(of: copy.object, reader), ofCopy = Set(other)
      // If both were renamed, the name in the branch that counts is the item's.
      guard try !reader.isAnyNamed(counted.prefix { !ofCopy.contains($0) }) else { continue }
      if let found = try besideMoves(other, brought, reader), found.title != item.title { return found }
      guard try reader.isAnyNamed(other.prefix { !ofItem.contains($0) }) else { continue }
      let title = try reader.title(of: copy.object)
      guard title != item.title, title != brought[copy.object.description] else { continue }
      if let mover = copy.object.actor { return LeftTitle(title: title, source: copy.object, mover: mover) }
    }
    return nil
  }

  /// The title given to one of these maps concurrently with the move that made the map before it.
  ///
  /// - Parameter brought: the titles that were brought to the item, by the maps that they came from
  private static func besideMoves(
    _ course: [ObjId], _ brought: [String: String], _ reader: MoveReader
  ) throws(MoveReader.Exhausted) -> LeftTitle? {
    for (made, source) in zip(course, course.dropFirst()) {
      var known = brought[source.description]
      if known == nil { known = try reader.titleWhenMade(of: made) }
      guard let known, let mover = made.actor else { return nil }
      let title = try reader.title(of: source)
      if title != known { return LeftTitle(title: title, source: source, mover: mover) }
      // The title was given here, and every later move knew it.
      if try reader.isNamed(source) { return nil }
    }
    return nil
  }
}
