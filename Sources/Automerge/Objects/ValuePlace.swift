/// Names one element of a list or text, in any replica, by the operation that inserted it.
struct ElementId: Hashable, Sendable {
  let counter: UInt32
  let actor: ActorId
}

/// The place of a value: a key of a map, or an element of a list or text, whatever its index is at a moment.
struct ValuePlace: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case key(MapKey)
    case element(ElementId)
  }

  let object: ObjId
  let step: Step
}

/// The value at a place, with what a writer must know about it.
struct PresentValue {
  let value: Value
  /// Whether the place has other values too, put concurrently.
  let isInConflict: Bool
  /// The element, in a list or text.
  let element: ElementId?
}

extension Document {
  /// The place at a key or an index; nil if the index is past the end.
  func place(in object: ObjId, at step: AnyCodingKey) throws -> ValuePlace? {
    guard let index = step.index else { return ValuePlace(object: object, step: .key(MapKey(step.stringValue))) }
    return try withCore { core in
      guard let slot = try core.slot(object, index, textEncoding) else { return nil }
      return core.elementId(of: slot).map { ValuePlace(object: object, step: .element($0)) }
    }
  }

  /// The counter at a place; nil if there is none.
  func counter(at place: ValuePlace) -> Int64? {
    withCore { core in
      guard let slot = try? core.slot(at: place), let winner = slot.winner(at: core.view),
        case .Counter(let value) = slot.scalar(of: winner, at: core.view, core.actors)
      else { return nil }
      return value
    }
  }

  /// The value at a key or an index; nil if there is none.
  func present(in object: ObjId, at step: AnyCodingKey) throws -> PresentValue? {
    try withCore { core in
      guard let index = step.index else {
        return core.present(try core.map(object).map[MapKey(step.stringValue)], isElement: false)
      }
      return try core.slot(object, index, textEncoding).flatMap { core.present($0, isElement: true) }
    }
  }

  /// The value of each element of a list or text.
  /// - Complexity: O(n) in the elements.
  func presentElements(obj: ObjId) throws -> [PresentValue] {
    try withCore { core in try core.presentElements(obj) }
  }
}

extension DocumentCore {
  func slot(at place: ValuePlace) throws(DocError) -> Slot? {
    switch place.step {
    case .key(let key): try map(place.object).map[key]
    case .element(let name): try element(named: name, of: place.object)?.slot
    }
  }

  /// Adds to the counter at a place.
  func increment(at place: ValuePlace, by amount: Int64) throws(DocError) {
    switch place.step {
    case .key(let key): try increment(place.object, key: key.string, by: amount)
    case .element(let name):
      guard let element = try element(named: name, of: place.object) else { throw .notACounter }
      let (id, tree) = try inView(sequence(place.object))
      try increment(tree, id, element, by: amount)
    }
  }

  private func element(named name: ElementId, of object: ObjId) throws(DocError) -> Element? {
    guard let actor = actors.find(name.actor) else { return nil }
    return element(try sequence(object).tree, OpId(counter: name.counter, actor: actor))
  }

  fileprivate func elementId(of slot: Slot) -> ElementId? {
    slot.first.map { elementId($0.id) }
  }

  private func elementId(_ id: OpId) -> ElementId { ElementId(counter: id.counter, actor: actors[id.actor]) }

  fileprivate func present(_ slot: Slot, isElement: Bool) -> PresentValue? {
    guard let winner = slot.winner(at: view) else { return nil }
    let isInConflict = view.isNow ? slot.isInConflict : slot.visible(at: view).count > 1
    return PresentValue(
      value: value(of: winner, in: slot, at: view), isInConflict: isInConflict,
      element: isElement ? elementId(of: slot) : nil)
  }

  fileprivate func presentElements(_ object: ObjId) throws(DocError) -> [PresentValue] {
    var elements: [PresentValue] = []
    try sequence(object).tree.forEachStretch(at: view) { stretch in
      switch stretch {
      case .plain(let first, _, let text):
        for (place, scalar) in String(decoding: bytes.bytes[text], as: UTF8.self).unicodeScalars.enumerated() {
          elements.append(
            PresentValue(
              value: .Scalar(.String(String(scalar))), isInConflict: false,
              element: elementId(first.advanced(by: place))))
        }
      case .irregular(let slot, _): if let present = present(slot, isElement: true) { elements.append(present) }
      case .mark: break
      }
      return true
    }
    return elements
  }
}
