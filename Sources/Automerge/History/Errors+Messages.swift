import Foundation

// One line about each error. The cases say what and where; these lines are for logs and alerts.

extension DocError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .unknownObject(let object): "the document has no object \(object)"
    case .wrongType(let object, let type): "object \(object) is a \(type), which does not support this"
    case .outOfBounds(let index): "index \(index) is out of bounds"
    case .invalidCursor: "these bytes are not a cursor"
    case .unknownCursor: "the cursor is not one of this object"
    case .unknownChange(let hash): "the document has no change \(hash.brief)"
    case .notACounter: "only a counter can be incremented, and there is none"
    case .numbersAsKeys(let path): "the keys of a map are strings, but at \(path) they are numbers"
    case .invalidValue: "the value cannot be stored"
    case .invalidUTF8: "the text is not UTF-8"
    case .tooLarge: "the document is full"
    case .notABlock(let index): "no block begins at index \(index)"
    case .isolated: "the document is isolated at an earlier state"
    }
  }
}

extension LoadError: LocalizedError {
  public var errorDescription: String? {
    if case .format(let error) = self { return "the bytes are not in Automerge's format: \(error.sentence)" }
    return "the changes do not fit the document: \(sentence)"
  }

  /// What is wrong, in words: the end of a sentence that begins with the place.
  public var sentence: String {
    switch self {
    case .format(let error): error.sentence
    case .notReproducible(let hash): "change \(hash.brief) is not written in the canonical way"
    case .equalActors(let actor, let hash):
      "change \(hash.brief) is in the name of actor \(actor.hexadecimal), which has made another change here"
    case .inconsistent(let hash, let fault): "change \(hash.brief) \(fault.sentence)"
    case .forged(let hash): "change \(hash.brief) is in our name, and we did not make it"
    case .inconsistentDocument(let fault): "the document has a change that \(fault.sentence)"
    }
  }
}

extension LoadError.Inconsistency {
  fileprivate var sentence: String {
    switch self {
    case .sequence: "has a number that does not follow its author's last change"
    case .counters: "counts its operations wrongly"
    case .object: "refers to an object that does not exist"
    case .element: "refers to an element that does not exist"
    case .predecessor: "replaces an operation that does not exist"
    case .dependency: "names a change twice, or a missing one, among those it depends on"
    case .heads: "is not among the heads that the document states"
    case .order: "is out of order"
    case .size: "is too large"
    }
  }
}

extension FormatError: LocalizedError {
  public var errorDescription: String? { sentence }

  /// What is wrong, in words.
  public var sentence: String {
    switch self {
    case .truncated: "the data ends too early"
    case .overlongInteger: "an integer is written with too many bytes"
    case .integerTooLarge: "an integer is too large"
    case .invalidUTF8: "a text is not UTF-8"
    case .leftover: "there are bytes after the end"
    case .notAChunk: "this is not Automerge data"
    case .unknownChunkType(let type, _): "the chunk is of the unknown type \(type)"
    case .badChecksum: "the checksum is wrong"
    case .badDeflate: "compressed data is corrupt"
    case .inflatedTooLarge(let limit): "compressed data is larger than \(limit) bytes"
    case .columnOrder: "the columns are out of order"
    case .unknownColumn(let column): "column \(column) is unknown"
    case .deflatedColumn(let column): "column \(column) must not be compressed"
    case .valuesWithoutMetadata(let column): "column \(column) has values without their lengths"
    case .run: "a column is not written in the canonical way"
    case .rowCount(let expected, _): "a column does not have the expected \(expected) rows"
    case .tooMany(let limit, _): "there are more than \(limit) rows"
    case .valueOutOfRange: "a value is out of range"
    case .unexpectedNull: "a value is missing"
    case .badValue(let type, _): "a value does not fit its type \(type)"
    case .invalid(let field, _): "\(field.sentence) is not valid"
    }
  }
}

extension FormatError.Field {
  fileprivate var sentence: String {
    switch self {
    case .actor: "an actor id"
    case .action: "an operation's action"
    case .key: "a key"
    case .object: "an object id"
    case .predecessor: "a predecessor"
    case .sequence: "a change's number"
    case .startOp: "a change's first operation number"
    case .mark: "a mark"
    case .dependency: "a dependency"
    case .heads: "the list of heads"
    case .messageType: "a message's type"
    case .bloom: "a filter"
    case .cursor: "a cursor"
    case .syncState: "a sync state"
    case .operationOrder: "the order of operations"
    }
  }
}

extension ChangeHash {
  /// Enough of the hash to tell changes of a file apart.
  fileprivate var brief: String { String(description.prefix(8)) }
}
