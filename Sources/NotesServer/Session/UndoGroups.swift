import Automerge

/// What one person can undo and redo in one note, in the steps in which people think: a burst of typing, a line, a paste.
struct UndoGroups {
  enum Direction { case undo, redo }

  /// A pause this long begins a new group.
  static let longestPause: Duration = .seconds(1)
  /// What puts in more than this at once, or takes out more, is a group of its own. In UTF-8 bytes.
  static let mostTypedBytes = 64
  static let mostDeletedBytes = 8
  /// Groups before the last so many are forgotten; a longer group is split.
  static let mostGroups = 1_000
  static let mostChanges = 1_000

  private static let newline = [UInt8(ascii: "\n")]

  /// What is taken back in one step.
  struct Group: Hashable {
    var changes: [ChangeHash]
    /// The same by author and number, as it is stored; what comes from the store has nothing else.
    var places: [Place] = []
    /// When the person last typed of it, in milliseconds since 1970.
    var time: Int
  }

  /// Changes of one author, which follow one another.
  struct Place: Hashable {
    var actor: ActorId
    var numbers: ClosedRange<Int>
  }

  var undoable: [Group] = []
  /// Changes that took groups back, the next one to take back last.
  var redoable: [Group] = []
  /// Where the person typed last, in UTF-8 bytes of the document's text, and when; nil if the next change begins a group.
  private var place: (utf8Offset: Int, time: Duration)?

  /// Takes account of a change by which the person made `splices`.
  ///
  /// - Parameter date: in milliseconds since 1970
  mutating func typed(_ change: ChangeHash, _ splices: [TextSplice], at now: Duration, date: Int = 0) {
    redoable.removeAll()
    let continues = splices.count == 1 && splices.first.map { isNext($0, at: now) } ?? false
    if continues, let last = undoable.indices.last, undoable[last].changes.count < Self.mostChanges {
      undoable[last].changes.append(change)
      undoable[last].time = date
    } else {
      undoable.append(Group(changes: [change], time: date))
      if undoable.count > Self.mostGroups { undoable.removeFirst() }
    }
    place = nil
    if let splice = splices.last, splices.count == 1, isSmall(splice), splice.insert != Self.newline {
      // Some editors give the first character of a text a final newline; the typing goes on before that.
      let typed = splice.insert.count - (splice.insert.last == Self.newline.last ? 1 : 0)
      place = (splice.utf8Offset + typed, now)
    }
  }

  /// Takes account of a change that the person asked for otherwise than by typing.
  mutating func did(_ change: ChangeHash, date: Int = 0) {
    redoable.removeAll()
    undoable.append(Group(changes: [change], time: date))
    place = nil
  }

  /// Takes account of what others did, each edit in the text that those before it left.
  mutating func othersTyped(_ edits: [TextEdit]) {
    guard var offset = place?.utf8Offset else { return }
    for edit in edits where edit.utf8Offset <= offset {
      offset = max(edit.utf8Offset, offset - edit.deleted.count) + edit.inserted.count
    }
    place?.utf8Offset = offset
  }

  /// What to take back next; nil if there is nothing.
  mutating func next(_ direction: Direction) -> Group? {
    place = nil
    switch direction {
    case .undo: return undoable.popLast()
    case .redo: return redoable.popLast()
    }
  }

  /// Takes account of a change that took back `group`, which `next` gave.
  mutating func tookBack(_ direction: Direction, _ group: Group, by change: ChangeHash) {
    let taken = Group(changes: [change], time: group.time)
    switch direction {
    case .undo: redoable.append(taken)
    case .redo: undoable.append(taken)
    }
  }

  /// Puts what the person did before the note was opened under what was done since.
  mutating func restore(_ earlier: UndoGroups) {
    if undoable.isEmpty, redoable.isEmpty { redoable = earlier.redoable }
    undoable = Array((earlier.undoable + undoable).suffix(Self.mostGroups))
  }

  /// Groups that were stored.
  init(undoable: [Group], redoable: [Group]) { (self.undoable, self.redoable) = (undoable, redoable) }

  init() {}

  /// Drops changes that the document no longer has.
  mutating func keepKnown(in document: Document) {
    func isKnown(_ group: Group) -> Bool {
      document.unknown(Set(group.changes)).isEmpty
        && group.places.allSatisfy { document.changes(by: $0.actor, $0.numbers).count == $0.numbers.count }
    }
    undoable.removeAll { !isKnown($0) }
    redoable.removeAll { !isKnown($0) }
    place = nil
  }

  private func isSmall(_ splice: TextSplice) -> Bool {
    splice.insert.isEmpty
      ? splice.deleteUTF8 <= Self.mostDeletedBytes
      : splice.deleteUTF8 == 0 && splice.insert.count <= Self.mostTypedBytes
  }

  /// Whether a splice goes on with what the person was typing: there, soon, and as small as a keystroke.
  private func isNext(_ splice: TextSplice, at now: Duration) -> Bool {
    guard let place, now - place.time < Self.longestPause, isSmall(splice) else { return false }
    // A new line before another one may be told as one behind it.
    if splice.insert == Self.newline, splice.utf8Offset == place.utf8Offset + 1 { return true }
    return splice.utf8Offset == place.utf8Offset || splice.utf8Offset + splice.deleteUTF8 == place.utf8Offset
  }
}
