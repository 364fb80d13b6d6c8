/// Finding places by position and by operation.
extension TextTree {
  /// The run that contains the unit number `amount`, counted from 1, and what is visible before that run.
  /// - Complexity: O(log n) in the runs; O(1) near the last look-up or edit.
  func locate(_ amount: Int, _ unit: TextUnit) -> (place: Place, start: TextSums) {
    precondition(amount > 0 && amount <= total[unit], "the amount is there")
    if hint.leaf != Self.none {
      if hint.run >= 0 {
        let before = hint.runStart[unit]
        let place = Place(leaf: hint.leaf, run: hint.run)
        if amount > before, amount <= before + sums(of: self[place])[unit] { return (place, hint.runStart) }
      }
      let before = hint.leafStart[unit]
      if amount > before, amount <= before + leaves[Int(hint.leaf)].sums[unit] {
        return locate(amount, unit, in: hint.leaf, start: hint.leafStart)
      }
    }
    settle()
    var node = root
    var start = TextSums.zero
    while true {
      let base = node * Self.nodeCapacity, isBottom = nodes[node].isBottom
      let child: UInt32
      // From the nearer end, because much is written at the end of a text.
      if amount - start[unit] <= nodes[node].sums[unit] / 2 {
        var at = base
        var sums = sumsOfChild(children[at], in: node)
        while amount > start[unit] + sums[unit] {
          start += sums
          at += 1
          sums = sumsOfChild(children[at], in: node)
        }
        child = children[at]
      } else {
        var at = base + nodes[node].count - 1
        start += nodes[node].sums - sumsOfChild(children[at], in: node)
        while amount <= start[unit] {
          at -= 1
          start -= sumsOfChild(children[at], in: node)
        }
        child = children[at]
      }
      if isBottom { return locate(amount, unit, in: child, start: start) }
      node = Int(child)
    }
  }

  private func locate(_ amount: Int, _ unit: TextUnit, in leaf: UInt32, start: TextSums) -> (Place, TextSums) {
    var at = start
    var place = Place(leaf: leaf, run: 0)
    hint.leaf = leaf
    hint.leafStart = start
    if amount - start[unit] <= leaves[Int(leaf)].sums[unit] / 2 {
      var run = UnsafePointer(runs.pointer(to: slot(leaf, 0)))
      while true {
        if run.pointee.isIrregular {
          let sums = slots[Int(run.pointee.text)].sums
          if amount <= at[unit] + sums[unit] { break }
          at += sums
        } else if run.pointee.isVisible {
          if amount <= at[unit] + run.pointee.units(unit) { break }
          at.add(run)
        }
        place.run += 1
        run += 1
      }
    } else {
      place.run = leaves[Int(leaf)].count - 1
      at += leaves[Int(leaf)].sums
      var run = UnsafePointer(runs.pointer(to: slot(leaf, place.run)))
      while true {
        if run.pointee.isIrregular {
          at -= slots[Int(run.pointee.text)].sums
        } else if run.pointee.isVisible {
          at.remove(run)
        }
        if amount > at[unit] { break }
        place.run -= 1
        run -= 1
      }
    }
    hint.run = place.run
    hint.runStart = at
    return (place, at)
  }

  /// What is visible before a leaf.
  /// - Complexity: O(log n); O(1) for the leaf of the last look-up or edit
  func start(ofLeaf leaf: UInt32) -> TextSums {
    if leaf == hint.leaf { return hint.leafStart }
    settle()
    var sum = TextSums.zero
    var child = leaf
    var parent = leaves[Int(leaf)].parent
    while parent != Self.none {
      let base = Int(parent) * Self.nodeCapacity
      var at = 0
      while children[base + at] != child {
        sum += sumsOfChild(children[base + at], in: Int(parent))
        at += 1
      }
      child = parent
      parent = nodes[Int(parent)].parent
    }
    (hint.leaf, hint.leafStart, hint.run) = (leaf, sum, -1)
    return sum
  }

  /// What is visible before a run.
  func start(of place: Place) -> TextSums {
    var sum = start(ofLeaf: place.leaf)
    var run = UnsafePointer(runs.pointer(to: slot(place.leaf, 0)))
    for _ in 0..<place.run {
      if run.pointee.isIrregular {
        sum += slots[Int(run.pointee.text)].sums
      } else if run.pointee.isVisible {
        sum.add(run)
      }
      run += 1
    }
    return sum
  }

  /// The run that contains an element, and the element's index in the run. Nil if it does not belong to this sequence.
  /// - Complexity: O(log n) in the runs; O(n) at the first call
  func find(_ element: OpId) -> (place: Place, element: Int)? {
    if index.isMadeLater { index = makeIndex() }
    guard !element.isZero, let leaf = index.leaf(of: element) else { return nil }
    let base = slot(leaf, 0)
    let first = runs.pointer(to: base)
    for run in 0..<leaves[Int(leaf)].count where first[run].contains(element) {
      return (Place(leaf: leaf, run: run), Int(element.counter - first[run].id.counter))
    }
    return nil
  }

  /// How many elements of a visible run are needed to cover `amount` units, and whether they end exactly there.
  func elements(covering amount: Int, _ unit: TextUnit, of run: TextRun) -> (count: Int, isExact: Bool) {
    if amount == 0 { return (0, true) }
    if run.isIrregular { return (1, amount == slots[Int(run.text)].sums[unit]) }
    switch unit {
    case .scalars, .elements, .graphemes: return (amount, true)
    case .utf8 where run.isASCII: return (amount, true)
    case .utf16 where run.utf16 == run.count: return (amount, true)
    case .newlines:
      let end = bytes.offset(behindNewline: amount, from: run.textStart)
      return (run.isASCII ? end - run.textStart : bytes.measure(run.textStart..<end).scalars, true)
    case .utf8, .utf16: break
    }
    var offset = run.textStart, elements = 0, passed = 0
    while passed < amount {
      let lead = bytes.bytes[offset], width = UTF8Scalar.byteCount(lead: lead)
      switch unit {
      case .utf8: passed += width
      case .utf16: passed += width == 4 ? 2 : 1
      case .newlines, .scalars, .elements, .graphemes: passed += 1
      }
      offset += width
      elements += 1
    }
    return (elements, passed == amount)
  }

  /// The measure of the first `count` elements of a visible, plain run.
  func measure(ofFirst count: Int, of run: TextRun) -> TextMeasure {
    if count == Int(run.count) { return run.measure }
    if run.isASCII, run.newlines == 0 { return TextMeasure(utf8: count, scalars: count, utf16: count) }
    let end = run.isASCII ? run.textStart + count : bytes.advance(run.textStart, scalars: count)
    return bytes.measure(run.textStart..<end)
  }

  /// The measure of the first `amount` units of the text. Inside a scalar, of what comes before the scalar.
  func measure(before amount: Int, _ unit: TextUnit) -> TextMeasure {
    if amount == 0 { return .zero }
    let (place, start) = locate(amount, unit)
    let run = self[place]
    let inside = amount - start[unit]
    if run.isIrregular {
      return start.measure + TextMeasure.prefix(of: slots[Int(run.text)].shown, amount: inside, unit)
    }
    let (count, isExact) = elements(covering: inside, unit, of: run)
    return start.measure + measure(ofFirst: isExact ? count : count - 1, of: run)
  }
}

extension TextMeasure {
  static func + (left: TextMeasure, right: TextMeasure) -> TextMeasure {
    TextMeasure(
      utf8: left.utf8 + right.utf8, scalars: left.scalars + right.scalars, utf16: left.utf16 + right.utf16,
      newlines: left.newlines + right.newlines)
  }

  /// The measure of the longest prefix of `text`, in whole scalars, that has at most `amount` units.
  static func prefix(of text: [UInt8], amount: Int, _ unit: TextUnit) -> TextMeasure {
    if unit == .graphemes {
      return TextMeasure(of: Array(String(decoding: text, as: UTF8.self).prefix(amount).utf8))
    }
    var offset = 0, passed = 0
    while offset < text.count {
      let lead = text[offset], width = UTF8Scalar.byteCount(lead: lead)
      let units =
        switch unit {
        case .utf8: width
        case .utf16: width == 4 ? 2 : 1
        case .newlines: lead == 0x0A ? 1 : 0
        case .scalars, .elements, .graphemes: 1
        }
      if passed + units > amount || (unit == .newlines && passed == amount) { break }
      passed += units
      offset += width
    }
    return TextMeasure(of: Array(text[..<offset]))
  }
}
