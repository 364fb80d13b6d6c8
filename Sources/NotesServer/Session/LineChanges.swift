import AutomergeRepo
import Foundation

/// What a note and its file have made of the lines that the file had before.
struct LineChanges: Sendable {
  let old: [UInt8]
  let note: [UInt8]
  let file: [UInt8]
  /// The file's name.
  var name = ""

  /// Whether a merge has a line of each side instead of one that both changed.
  ///
  /// - Complexity: that of `TextDiff`, by lines
  @concurrent
  func areBoth(in merged: [UInt8]) async -> Bool {
    let theirs = LineHunk.hunks(from: old, to: file), lines = Set(merged.split(separator: 0x0A))
    var rest = theirs[...]
    return LineHunk.hunks(from: old, to: note).contains { ours in
      // Both lists ascend.
      rest = rest.drop { $0.base.upperBound <= ours.base.lowerBound }
      return rest.prefix { $0.base.lowerBound < ours.base.upperBound }.contains { theirs in
        ours.base.overlaps(theirs.base) && ours.lines != theirs.lines
          && [ours, theirs].allSatisfy { $0.lines.split(separator: 0x0A).contains(where: lines.contains) }
      }
    }
  }
}

extension LineChanges {
  /// Nil if it is unknown what the file had before, or the texts are large.
  @AutomergeRepo
  init?(of record: NoteRecord?, file: [UInt8], _ note: NoteDocument) {
    let text = DocumentText(note)
    guard max(file.count, text.measure.utf8) <= ThreeWayMerge.maximumSearchedBytes, let record, let path = record.path,
      let old = record.base(for: note)?.texts(of: note).last
    else { return nil }
    self.init(old: old, note: text.allUTF8, file: file, name: (path as NSString).lastPathComponent)
  }

  /// Tells the person a little later if the merged text has both versions of a line.
  @AutomergeRepo
  func tellOfBoth(in merged: [UInt8], _ environment: ServiceEnvironment) {
    Task { @AutomergeRepo in
      guard await areBoth(in: merged) else { return }
      let name = NoteNews.cut(OneLine.shown(name), to: 14)
      environment.events.send(.fileNews(message: "A line was changed here and in \(name); both are kept"))
    }
  }
}
