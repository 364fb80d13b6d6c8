/// A splice of a text at the past state at which the document is isolated; see `DocumentCore.splice`.
///
/// The sums of the tree are those of the present text, so places are found by walking through it.
struct PastSplice {
  let core: DocumentCore
  let tree: TextTree
  let object: OpId
  let unit: TextUnit

  /// Inserts valid UTF-8 at a position and then deletes up to `count` units after it.
  func run(at start: Int, deleting count: Int, inserting utf8: UnsafeBufferPointer<UInt8>) throws(DocError) {
    guard start <= core.total(of: tree)[unit] else { throw .outOfBounds(UInt64(start)) }
    var start = start
    if !utf8.isEmpty {
      guard core.bytes.hasRoom(for: utf8.count) else { throw .tooLarge }
      let measure = TextMeasure(of: utf8), gap = core.gap(in: tree, before: start, unit)
      let before = core.visible(in: tree, before: gap)[unit]
      let id = try core.takeIds(measure.scalars)
      let offset = core.bytes.append(utf8, actor: id.actor)
      tree.insertText(at: gap, id: id, text: offset..<offset + utf8.count, scalars: measure.scalars)
      core.log.append(
        .insertion(
          object: object, behind: gap.reference, count: measure.scalars, text: offset, byteCount: utf8.count), id: id)
      start = before + TextSums(measure, elements: measure.scalars)[unit]
    }
    if count > 0 { try delete(at: start, count: count) }
  }

  /// Deletes elements one by one, as far as there are any. An element that begins before `start` stays.
  func delete(at start: Int, count: Int) throws(DocError) {
    let clock = core.view
    var targets: [OpId] = [], offset = 0, left = count
    tree.forEachElement(at: clock) { element, sums in
      let width = sums[unit]
      if offset >= start, width > 0 {
        targets.append(element)
        left -= width
      }
      offset += width
      return left > 0
    }
    for target in targets {
      guard let element = core.element(tree, target) else { continue }
      try core.change(tree, object, element, .delete, .null, predecessors: element.slot.visible(at: clock).map(\.id))
    }
  }
}
