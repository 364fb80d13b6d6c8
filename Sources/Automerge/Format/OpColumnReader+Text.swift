/// Typed text in consecutive rows of a document: one scalar per row, each following the one before it.
struct TextRows {
  var count: Int
  /// The first row's id.
  let id: OpRows.Id
  /// What the first row follows; nil for the head.
  let reference: OpRows.Id?
  /// What deleted the first row, and the step to the deletion of each later one; nil if the text is visible.
  let deletion: OpRows.Id?
}

extension OpColumnReader {
  /// The next rows of a document, as far as they are certainly typed text of those that `value.readText` found; nil if
  /// that is not certain. Then `next` reads them, or reports what is wrong with them.
  mutating func nextText() throws(FormatError) -> TextRows? {
    guard steady.mayBeText, let ids = try idActor.peekRun(), let actor = ids.value,
      let counters = try idCounter.peekRun(), let counter = counters.first,
      let keys = try keyCounter.peekRun(), let key = keys.first
    else { return nil }
    var count = min(steady.count, value.text.left, ids.count, counters.count, keys.count)
    var reference: OpRows.Id?
    if let keyActors = try keyActor.peekRun() {
      count = min(count, keyActors.count)
      if let actor = keyActors.value { reference = OpRows.Id(actor: actor, counter: key) }
    }
    guard (reference == nil) == (key == 0) else { return nil }
    var deletion: OpRows.Id?
    if let members = try groupCount.peekRun() {
      guard let each = members.value, each < 2 else { return nil }
      count = min(count, members.count)
      if each == 1 {
        guard let member = try peekMember() else { return nil }
        deletion = member.id
        count = min(count, member.count)
      }
    }
    let goesOn =
      key == counter - 1 && reference?.actor == actor && keys.step == 1 && counters.step == 1
      && (deletion.map { abs($0.step) == 1 } ?? true)
    if !goesOn { count = min(count, 1) }
    guard count > 0 else { return nil }
    steady.skip(count)
    keyActor.skip(count)
    keyCounter.skip(count)
    idActor.skip(count)
    idCounter.skip(count)
    groupCount.skip(count)
    if deletion != nil {
      groupActor.skip(count)
      groupCounter.skip(count)
    }
    try value.skipText(count)
    return TextRows(
      count: count, id: OpRows.Id(actor: actor, counter: counter), reference: reference, deletion: deletion)
  }
}
