import Automerge

/// What one person can undo and redo in one note, in the steps that people expect: a burst of typing, a line, a paste.
struct UndoGroups {
  enum Direction { case undo, redo }

  /// A pause this long begins a new group.
  static let maximumPause: Duration = .seconds(1)
  /// The most bytes of UTF-8 that a change may insert or delete to join a group; a larger one is a group of its own.
  static let maximumTypedBytes = 64
  static let maximumDeletedBytes = 8
  /// How many groups are kept, the latest; a longer group is split.
  static let maximumGroups = 1_000
  static let maximumChanges = 1_000

  private static let newline = [UInt8(ascii: "\n")]

  /// One step of undo.
  struct Group: Hashable {
    var changes: [ChangeHash]
    /// The same changes by author and number, which is the stored form; groups from the store have only this.
    var places: [Place] = []
    /// When the person last typed in it, in milliseconds since 1970.
    var time: Int
  }

  /// Consecutive changes of one author.
  struct Place: Hashable {
    var actor: ActorId
    var numbers: ClosedRange<Int>
  }

  var undoable: [Group] = []
  /// Changes that undid groups; the next one to redo is last.
  var redoable: [Group] = []
  /// Where the person last typed, in UTF-8 bytes of the document's text, and when; nil if the next change begins a
  /// group.
  private var place: (utf8Offset: Int, time: Duration)?
  /// Whether the last group has only begun a new line: what is typed next is that line's text, before the line end or after it.
  private var isLineBegun = false
  /// What the last group consists of, if the person has only typed, at one place, and not too much.
  private var typed: [UInt8] = []
  private static let maximumRepeatedBytes = 4_096

  /// Records a change by which the person made `splices`.
  ///
  /// - Parameter date: in milliseconds since 1970
  mutating func typed(_ change: ChangeHash, _ splices: [TextSplice], at now: Duration, date: Int = 0) {
    redoable.removeAll()
    let repeats = repeatsTyping(splices)
    let continues = repeats || splices.count == 1 && splices.first.map { isNext($0, at: now) } ?? false
    if !continues || repeats { typed = [] }
    if !repeats, splices.count == 1, let splice = splices.first, splice.deleteUTF8 == 0,
      splice.insert.count <= Self.maximumRepeatedBytes - typed.count
    {
      typed += splice.insert
    } else {
      typed = []
    }
    if continues, let last = undoable.indices.last, undoable[last].changes.count < Self.maximumChanges {
      undoable[last].changes.append(change)
      undoable[last].time = date
    } else {
      undoable.append(Group(changes: [change], time: date))
      if undoable.count > Self.maximumGroups { undoable.removeFirst() }
    }
    let wasBegun = isLineBegun
    (place, isLineBegun) = (nil, false)
    if let splice = splices.last, splices.count == 1, splice.insert == Self.newline, splice.deleteUTF8 == 0 {
      // The end of a line that was typed belongs to that line; what follows is another one.
      if !continues || wasBegun { (place, isLineBegun) = ((splice.utf8Offset + 1, now), true) }
    } else if let splice = splices.last, splices.count == 1, isSmall(splice) {
      // Some editors add a final newline with the first character of a text, before which the person continues to type.
      let typed = splice.insert.dropLast(splice.insert.last == Self.newline.last ? 1 : 0)
      // A slow editor reports a line together with its end; what is typed next is another line.
      if typed.last != Self.newline.last { place = (splice.utf8Offset + typed.count, now) }
    }
  }

  /// Whether an editor repeats what was typed: in the other lines of a block, or right there as often as the person has said.
  private func repeatsTyping(_ splices: [TextSplice]) -> Bool {
    guard !typed.isEmpty, let first = splices.first else { return false }
    if splices.count == 1 {
      // A text that is inserted before itself looks as if it were inserted behind.
      guard first.insert.count > typed.count, let place,
        place.utf8Offset - typed.count...place.utf8Offset ~= first.utf8Offset
      else { return false }
    }
    // A line may be repeated with the line end before it or after it.
    let isLine = typed.starts(with: Self.newline)
    let units = [typed, isLine ? typed.dropFirst() + Self.newline : Self.newline + typed]
    return splices.allSatisfy { splice in
      splice.deleteUTF8 == 0 && units.contains { Self.isRepetition(splice.insert, of: $0) }
    }
  }

  private static func isRepetition(_ text: [UInt8], of unit: [UInt8]) -> Bool {
    !text.isEmpty && text.count.isMultiple(of: unit.count)
      && text.indices.allSatisfy { text[$0] == unit[$0 % unit.count] }
  }

  /// Records a change that the person made in another way than by typing.
  mutating func did(_ change: ChangeHash, date: Int = 0) {
    typed = []
    redoable.removeAll()
    undoable.append(Group(changes: [change], time: date))
    place = nil
  }

  /// Records other people's edits, each applied to the text that the earlier ones left.
  mutating func othersTyped(_ edits: [TextEdit]) {
    guard var offset = place?.utf8Offset else { return }
    for edit in edits where edit.utf8Offset <= offset {
      offset = max(edit.utf8Offset, offset - edit.deleted.count) + edit.inserted.count
    }
    place?.utf8Offset = offset
  }

  /// The changes to undo next; nil if there are none.
  mutating func next(_ direction: Direction) -> Group? {
    place = nil
    typed = []
    switch direction {
    case .undo: return undoable.popLast()
    case .redo: return redoable.popLast()
    }
  }

  /// Records a change that undid `group`, which `next` returned.
  mutating func reverted(_ direction: Direction, _ group: Group, by change: ChangeHash) {
    let taken = Group(changes: [change], time: group.time)
    switch direction {
    case .undo: redoable.append(taken)
    case .redo: undoable.append(taken)
    }
  }

  /// Adds what the person did after these.
  mutating func add(_ later: UndoGroups) {
    if !later.isEmpty { redoable = later.redoable }
    undoable = Array((undoable + later.undoable).suffix(Self.maximumGroups))
    place = later.place
  }

  var isEmpty: Bool { undoable.isEmpty && redoable.isEmpty }

  /// Groups from the store.
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
      ? splice.deleteUTF8 <= Self.maximumDeletedBytes
      : splice.deleteUTF8 == 0 && splice.insert.count <= Self.maximumTypedBytes
  }

  /// Whether a splice continues the person's typing: at the same place, soon, and as small as a keystroke.
  private func isNext(_ splice: TextSplice, at now: Duration) -> Bool {
    guard let place, now - place.time < Self.maximumPause, isSmall(splice) else { return false }
    let isBeforeLineEnd = isLineBegun && splice.utf8Offset == place.utf8Offset - 1 && splice.deleteUTF8 == 0
    if isBeforeLineEnd { return true }
    // An editor may report a new line before another one as one after it.
    if splice.insert == Self.newline, splice.utf8Offset == place.utf8Offset + 1 { return true }
    // A slow editor reports the end of a line together with what follows it, which is another line.
    if splice.insert.count > 1, splice.insert.first == Self.newline.first { return false }
    return splice.utf8Offset == place.utf8Offset || splice.utf8Offset + splice.deleteUTF8 == place.utf8Offset
  }
}
