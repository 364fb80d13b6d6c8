import Foundation
import TestSupport
import Testing

@testable import Automerge

/// What callers are told about changes that came from elsewhere.
struct PatchTests {
  private func pair() throws -> (Document, Document) {
    let document = try Document(actor: "00")
    try document.put(obj: .ROOT, key: "key", value: .String("value1"))
    let fork = document.fork()
    try fork.rename("ff")
    return (document, fork)
  }

  private let expected = [
    Patch(action: .Put(.ROOT, .Key("key2"), .Scalar(.String("value2"))), path: [])
  ]

  @Test func mergingReturnsWhatTheOtherDocumentDid() throws {
    let (document, fork) = try pair()
    try fork.put(obj: .ROOT, key: "key2", value: .String("value2"))
    #expect(try document.mergeWithPatches(other: fork) == expected)
    #expect(try document.mergeWithPatches(other: fork).isEmpty)
    #expect(try document.mergeWithPatches(other: document).isEmpty)
  }

  @Test func applyingChangesReturnsWhatTheyDid() throws {
    let (document, fork) = try pair()
    let heads = fork.heads()
    try fork.put(obj: .ROOT, key: "key2", value: .String("value2"))
    let encoded = try fork.encodeChangesSince(heads: heads)
    #expect(try document.applyEncodedChangesWithPatches(encoded: encoded) == expected)
    #expect(try document.applyEncodedChangesWithPatches(encoded: encoded).isEmpty)
  }

  @Test func loadingIntoAnEmptyDocumentReturnsAllOfItsContent() throws {
    let (_, fork) = try pair()
    let text = try fork.putObject(obj: .ROOT, key: "text", ty: .Text)
    try fork.spliceText(obj: text, start: 0, delete: 0, value: "hello")
    let empty = Document()
    let patches = try empty.applyEncodedChangesWithPatches(encoded: fork.save())
    #expect(
      patches == [
        Patch(action: .Put(.ROOT, .Key("key"), .Scalar(.String("value1"))), path: []),
        Patch(action: .Put(.ROOT, .Key("text"), .Object(text, .Text)), path: []),
        Patch(
          action: .SpliceText(obj: text, index: 0, value: "hello", marks: [:]),
          path: [PathElement(obj: .ROOT, prop: .Key("text"))]),
      ])
  }

  @Test func aSyncMessageReturnsWhatItBrought() throws {
    let (document, fork) = try pair()
    let state = SyncState(), forkState = SyncState()
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      if let message = document.generateSyncMessage(state: state) {
        isQuiet = false
        try fork.receiveSyncMessage(state: forkState, message: message)
      }
      if let message = fork.generateSyncMessage(state: forkState) {
        isQuiet = false
        #expect(try document.receiveSyncMessageWithPatches(state: state, message: message).isEmpty)
      }
    }
    try fork.put(obj: .ROOT, key: "key2", value: .String("value2"))
    let message = try require(fork.generateSyncMessage(state: forkState))
    #expect(try document.receiveSyncMessageWithPatches(state: state, message: message) == expected)
  }

  @Test(arguments: [
    (TextEncoding.unicodeScalar, 4 as UInt64, 1 as UInt64), (.utf16, 5, 2), (.utf8, 8, 4), (.graphemeCluster, 3, 1),
  ])
  func textPatchesCountInTheUnitsOfTheDocument(encoding: TextEncoding, index: UInt64, emojiLength: UInt64) throws {
    let document = Document(textEncoding: encoding)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "e\u{301}a😀x")
    let fork = document.fork()
    try fork.spliceText(obj: text, utf8Offset: 8, deleteUTF8: 0, insert: Array("!".utf8))
    let path = [PathElement(obj: .ROOT, prop: .Key("text"))]
    #expect(
      try document.mergeWithPatches(other: fork)
        == [Patch(action: .SpliceText(obj: text, index: index, value: "!", marks: [:]), path: path)])
    try fork.spliceText(obj: text, utf8Offset: 4, deleteUTF8: 4, insert: [])
    #expect(
      try document.mergeWithPatches(other: fork)
        == [
          Patch(
            action: .DeleteSeq(DeleteSeq(obj: text, index: index - emojiLength, length: emojiLength)), path: path)
        ])
  }
}
