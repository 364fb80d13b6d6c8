/// Deleting elements, and other operations on existing ones.
extension TextTree {
  /// Marks `count` elements of a visible run, from `element` on, as deleted by `deletion`, `deletion + step`, ….
  func markDeleted(_ place: Place, element: Int, count: Int, by deletion: OpId, step: Int8) {
    let shown = sums(of: self[place])
    var place = place
    let old = place.leaf
    var piece = self[place]
    var rest: TextRun?
    if element + count < Int(piece.count) { rest = piece.split(at: element + count, bytes: bytes) }
    var head: TextRun?
    if element > 0 {
      let tail = piece.split(at: element, bytes: bytes)
      head = piece
      piece = tail
    }
    piece.deletion = deletion
    piece.step = piece.count > 1 ? step : 0
    var change = TextSums.zero - shown
    if let head { change += sums(of: head) }
    if let rest { change += sums(of: rest) }
    if hint.leaf != old { hint.leaf = Self.none }
    hint.run = -1
    if absorb(piece, at: place, head: head, rest: rest) {
      add(change, to: old)
      return
    }
    let added = (head == nil ? 0 : 1) + (rest == nil ? 0 : 1)
    // The leaf shows less from here on; if it is split, its parts are summed from their runs.
    self[place] = head ?? piece
    if let head {
      add(sums(of: head) - shown, to: old)
      place.run += 1
      openGap(&place, count: added)
      put(piece, at: place, from: old)
      if let rest { put(rest, at: Place(leaf: place.leaf, run: place.run + 1), from: old) }
    } else {
      add(TextSums.zero - shown, to: old)
      if let rest {
        place.run += 1
        openGap(&place, count: 1)
        put(rest, at: place, from: old)
      }
    }
    hint.run = -1
  }

  private func put(_ run: TextRun, at place: Place, from old: UInt32) {
    self[place] = run
    if place.leaf != old { assign(run.id, count: Int(run.count), leaf: place.leaf) }
    let sums = sums(of: run)
    if sums != .zero { add(sums, to: place.leaf) }
  }

  /// Joins a deleted piece with a deleted neighbour that it continues: backspacing and forward deleting make long runs.
  private func absorb(_ piece: TextRun, at place: Place, head: TextRun?, rest: TextRun?) -> Bool {
    let count = leaves[Int(place.leaf)].count
    if rest == nil, place.run + 1 < count {
      let behind = Place(leaf: place.leaf, run: place.run + 1)
      if piece.canMerge(self[behind]) {
        var joined = piece
        joined.merge(self[behind])
        self[behind] = joined
        if let head { self[place] = head } else { closeGap(place) }
        return true
      }
    }
    if head == nil, place.run > 0 {
      let before = Place(leaf: place.leaf, run: place.run - 1)
      if self[before].canMerge(piece) {
        self[before].merge(piece)
        if let rest { self[place] = rest } else { closeGap(place) }
        return true
      }
    }
    return false
  }

  /// Makes one element an irregular run of its own, with its operations in `slots`, unless it is one already.
  func makeIrregular(_ place: Place, element: Int) -> Place {
    var run = self[place]
    if run.isIrregular { return place }
    var place = place
    let old = place.leaf
    var rest: TextRun?
    if element + 1 < Int(run.count) { rest = run.split(at: element + 1, bytes: bytes) }
    var head: TextRun?
    if element > 0 {
      let tail = run.split(at: element, bytes: bytes)
      head = run
      run = tail
    }
    let text = RawValue(text: bytes.bytes[run.textStart..<run.textEnd])
    var op = StoredOp(id: run.id, action: .set, value: text)
    if !run.deletion.isZero { op.successors = [run.deletion] }
    changeSlots { $0.append(IrregularElement(Slot(ops: [op]))) }
    let irregular = TextRun(irregular: run.id, origin: run.origin, slot: slots.count - 1)
    if hint.leaf != old { hint.leaf = Self.none }
    hint.run = -1
    // The parts together show the same as before, so sums change only where parts move to another leaf.
    let shown = sums(of: self[place])
    add(sums(of: head ?? irregular) - shown, to: old)
    self[place] = head ?? irregular
    if head != nil {
      place.run += 1
      openGap(&place, count: rest == nil ? 1 : 2)
      put(irregular, at: place, from: old)
    }
    if let rest {
      var behind = Place(leaf: place.leaf, run: place.run + 1)
      if head == nil {
        openGap(&behind, count: 1)
        if behind.leaf != place.leaf, behind.run > 0 { place = Place(leaf: behind.leaf, run: behind.run - 1) }
      }
      put(rest, at: behind, from: old)
    }
    hint.run = -1
    return place
  }

  /// Changes the operations of an irregular element and updates everything that depends on them.
  func update(_ place: Place, _ change: (inout Slot) -> Void) {
    let slot = Int(self[place].text)
    let before = slots[slot].sums
    changeSlots { slots in
      change(&slots[slot].slot)
      slots[slot].refresh()
    }
    if hint.leaf != place.leaf { hint.leaf = Self.none }
    hint.run = -1
    let difference = slots[slot].sums - before
    if difference != .zero { add(difference, to: place.leaf) }
  }

  /// Applies an operation to an existing element: a new value, an increment, or a deletion.
  func apply(_ op: StoredOp, predecessors: [OpId], to place: Place) {
    let element = self[place].id, irregular = Int(self[place].text)
    if op.action == .increment, predecessors.allSatisfy({ slots[irregular].slot.isCounter($0, actors) }) {
      // A counter that is incremented shows the same in a text, and may be incremented very often.
      changeSlots { $0[irregular].slot.apply(op, to: predecessors, actors: actors) }
      updates[op.id] = element
      return
    }
    update(place) { $0.apply(op, to: predecessors, actors: actors) }
    if op.action != .delete { updates[op.id] = element }
  }
}

extension RawValue {
  /// A string whose UTF-8 is known to be valid.
  init(text: ArraySlice<UInt8>) { self = RawValue(.String(String(decoding: text, as: UTF8.self))) }
}
