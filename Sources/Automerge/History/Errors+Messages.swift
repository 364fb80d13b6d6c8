import Foundation

// One line for people about each error. What and where is in the cases; this is for logs and alerts.

extension DocError: LocalizedError {
  public var errorDescription: String? {
    if case .unknownObject(let object) = self { return "the document has no object \(object)" }
    if case .wrongType(let object, let type) = self { return "object \(object) is a \(type), and not fit for this" }
    if case .outOfBounds(let index) = self { return "index \(index) is out of bounds" }
    return "the document refused: \(self)"
  }
}

extension LoadError: LocalizedError {
  public var errorDescription: String? {
    if case .format(let error) = self { return "the bytes are not in Automerge's format: \(error)" }
    return "the changes do not fit the document: \(self)"
  }
}
