import Automerge

/// A text that a working file had for a moment, and that no process has read there.
///
///     a content that was read ──written──► the editor's text ──written──► the next content that was read
///
/// The note has got the text's new lines with the next content. Compared with the content before, they would count as new: they
/// would appear twice, or return although a person has deleted them since.
extension ThreeWayMerge {
  /// The delta from a text that has nothing which the file did not have soon after to the document's text; nil if it has more.
  ///
  /// - Parameter contents: what the file is known to have contained, latest first
  @concurrent
  func wayThroughStageOffLoop(_ text: [UInt8], of contents: [TextBase]) async -> TextDelta? {
    wayThroughStage(text, of: contents)
  }

  func wayThroughStage(_ text: [UInt8], of contents: [TextBase]) -> TextDelta? {
    guard text.count <= Self.maximumSearchedBytes else { return nil }
    for (later, earlier) in zip(contents, contents.dropFirst()) {
      guard let way = wayFromSteps(later), let old = self.text(of: earlier), let new = self.text(of: later), old != new
      else { continue }
      // What it has of the later content's new lines is the same as these, and what it has not is not deleted.
      let between = TextDiff.delta(from: old, to: new)
      let merge = FileMerge(base: old, way: between, document: new, file: text)
      if merge.splices.isEmpty { return merge.lacking.composed(with: way) }
    }
    return nil
  }
}
