import Automerge

// `@notes.text` is the id of the text object that is the note, if the document's root does not say it. A path would
// change with its list.
extension NoteDocument {
  private static let choiceKey = "text"

  /// The text that was chosen, if the document still has it.
  ///
  /// - Complexity: O(d log n), d its depth
  static func chosenText(of document: Document) -> ObjId? {
    guard case .Object(let kind, .Map)? = try? document.get(obj: .ROOT, key: "@notes"),
      case .Scalar(.String(let name))? = try? document.get(obj: kind, key: choiceKey),
      let text = ObjId(description: name), document.objectType(obj: text) == .Text, isVisible(text, in: document)
    else { return nil }
    return text
  }

  /// Whether the document's text is still this one. It is not if a peer has deleted it, replaced it, or chosen another.
  ///
  /// - Complexity: O(d log n), d its depth; O(k) in the keys of the root if none of them says which text it is
  var isCurrent: Bool {
    if let chosen = Self.chosenText(of: document) { return chosen == content }
    return Self.contentText(of: document) == content
  }

  /// Whether the text is in the document, whether it is the note's or not.
  var isVisible: Bool { Self.isVisible(content, in: document) }

  /// Whether neither the object nor one that contains it was deleted or replaced.
  private static func isVisible(_ object: ObjId, in document: Document) -> Bool {
    guard let path = try? document.path(obj: object), !path.isEmpty else { return false }
    let objects = path.dropFirst().map(\.obj) + [object]
    return zip(path, objects).allSatisfy { step, object in
      let value: Value? =
        switch step.prop {
        case .Key(let key): try? document.get(obj: step.obj, key: key)
        case .Index(let index): try? document.get(obj: step.obj, index: index)
        }
      if case .Object(object, _)? = value { return true }
      return false
    }
  }

  /// Makes a text the note's. The caller commits.
  static func choose(_ text: ObjId, in document: Document) throws {
    let kind: ObjId
    if case .Object(let object, .Map)? = try document.get(obj: .ROOT, key: "@notes") {
      kind = object
    } else {
      kind = try document.putObject(obj: .ROOT, key: "@notes", ty: .Map)
    }
    try document.put(obj: kind, key: choiceKey, value: .String(text.description))
  }
}
