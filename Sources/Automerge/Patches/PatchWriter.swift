/// Writes patches for one object from front to back, joining adjacent ones.
struct PatchWriter {
  let object: ObjId
  /// The walk's position in the new content, in the units that the object's patches are counted in.
  var index = 0

  private var actions: [PatchAction] = []
  /// Elements that an insertion restores: the last one, and the number of consecutive ids.
  struct Origin {
    let last: OpId
    let count: Int

    var first: OpId { last.advanced(by: 1 - count) }
  }

  /// What insertions restore, by their number. Only of a walk that asks for it.
  private(set) var origins: [Int: Origin] = [:]
  /// What the open patch restores.
  private var openOrigin: Origin?
  private var open = Kind.nothing
  /// Where the open patch begins and ends in the new content; the length of a deletion.
  private var start = 0
  private var end = 0
  private var text: [UInt8] = []
  private var textMarks: [MapKey: RawValue] = [:]
  private var values: [Value] = []
  private var marks: [MapKey: [(start: Int, end: Int, value: RawValue)]] = [:]
  /// The marks that content which stays gains here, null for those that it loses, and where each of them began.
  private var gained: [MapKey: (value: RawValue, start: Int)] = [:]
  /// Where the content began that gains them, without anything else up to here; nil if there is none.
  private var gainStart: Int?

  private enum Kind { case nothing, splice, insertion, deletion, marks }

  init(object: ObjId) { self.object = object }

  /// Ends the last patch and returns all of them.
  mutating func finish() -> [PatchAction] {
    close()
    return actions
  }

  /// Skips content that stayed. `isMarked` says whether it gains and loses marks.
  mutating func keep(_ length: Int, isMarked: Bool) {
    if length == 0 { return }
    if !isMarked {
      endGains()
    } else if !gained.isEmpty {
      if open != .marks { close() }
      open = .marks
      if gainStart == nil { gainStart = index }
    }
    index += length
  }

  /// Says which value of a mark content that stays gains from here on: null if it loses the mark, nil if neither.
  mutating func setMark(_ name: MapKey, _ value: RawValue?) {
    let last = gained.removeValue(forKey: name)
    guard last?.value != value else {
      gained[name] = last
      return
    }
    if let last { endGain(name, last.value, from: last.start) }
    gained[name] = value.map { ($0, index) }
  }

  private mutating func endGain(_ name: MapKey, _ value: RawValue, from start: Int) {
    guard let gainStart else { return }
    let start = max(start, gainStart)
    guard start < index else { return }
    var stretches = marks.removeValue(forKey: name) ?? []
    if let last = stretches.last, last.end == start, last.value == value {
      stretches[stretches.count - 1].end = index
    } else {
      stretches.append((start, index, value))
    }
    marks[name] = stretches
  }

  private mutating func endGains() {
    for (name, gain) in gained { endGain(name, gain.value, from: gain.start) }
    gainStart = nil
  }

  /// Keeps the last insertion separate from the next, and records which elements it restores.
  mutating func endInsertion(with origin: Origin) {
    close()
    origins[actions.count - 1] = origin
  }

  /// - Parameter origin: the elements that the text restores. They are joined with those before them if their ids
  ///   continue from there, in however many runs they are stored: what another person inserts after a deleted line must
  ///   not end up in the middle of the restored line
  mutating func insertText(
    _ utf8: some Collection<UInt8>, length: Int, marks: [MapKey: RawValue], bringingBack origin: Origin? = nil
  ) {
    if open != .splice || end != index || textMarks != marks || !goesOn(origin) {
      close()
      (open, start, end, textMarks) = (.splice, index, index, marks)
    }
    openOrigin = origin.map { Origin(last: $0.last, count: $0.count + (openOrigin?.count ?? 0)) }
    text.append(contentsOf: utf8)
    index += length
    end = index
  }

  private func goesOn(_ origin: Origin?) -> Bool { openOrigin?.last.advanced(by: 1) == origin?.first }

  mutating func insert(_ value: Value, length: Int) {
    if open != .insertion || end != index {
      close()
      (open, start) = (.insertion, index)
    }
    values.append(value)
    index += length
    end = index
  }

  mutating func delete(_ length: Int) {
    if length == 0 { return }
    if open != .deletion || start != index {
      close()
      (open, start, end) = (.deletion, index, 0)
    }
    end += length
  }

  /// Adds a patch that is not joined with another.
  mutating func add(_ action: PatchAction) {
    close()
    actions.append(action)
  }

  /// The walk's position as a property of the object.
  var prop: Prop { .Index(UInt64(index)) }

  private mutating func close() {
    switch open {
    case .nothing: return
    case .splice:
      let named = textMarks.map { ($0.key.string, Value.Scalar($0.value.scalar)) }
      let marks = Dictionary(named) { first, _ in first }
      actions.append(
        .SpliceText(obj: object, index: UInt64(start), value: String(decoding: text, as: UTF8.self), marks: marks))
      if let openOrigin { origins[actions.count - 1] = openOrigin }
      (text, openOrigin) = ([], nil)
    case .insertion:
      actions.append(.Insert(obj: object, index: UInt64(start), values: values))
      values = []
    case .deletion:
      actions.append(.DeleteSeq(DeleteSeq(obj: object, index: UInt64(start), length: UInt64(end))))
    case .marks:
      endGains()
      let named = marks.sorted { $0.key < $1.key }
      actions.append(
        .Marks(
          object,
          named.flatMap { name, ranges in
            ranges.map { Mark(start: UInt64($0.start), end: UInt64($0.end), name: name.string, value: $0.value.scalar) }
          }))
      marks = [:]
    }
    open = .nothing
  }
}
