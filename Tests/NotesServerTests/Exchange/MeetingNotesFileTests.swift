import AutomergeRepo
import Foundation
import TestSupport
import Testing

@testable import NotesServer

struct MeetingNotesFileTests {
  private let bytes = [UInt8](0..<16)
  private var id: DocumentId { get throws { try #require(DocumentId(bytes: bytes)) } }

  /// `{"id": ID, "data": h'0102'}` with this encoding of the id.
  private func file(id: [UInt8]) -> [UInt8] {
    [0xA2, 0x62] + Array("id".utf8) + id + [0x64] + Array("data".utf8) + [0x42, 1, 2]
  }

  @Test func itIsWrittenWithTheIdAsAMapAndReadBack() throws {
    let file = MeetingNotesFile(id: try id, data: Data([1, 2]))
    #expect(MeetingNotesFile(file.encoded) == file)
    let cbor = try CBOR(file.encoded)
    #expect(cbor["id"]?["id"]?.text == (try id).description)
    #expect(cbor["id"]?["data"]?.bytes == Data(bytes))
    #expect(cbor["data"]?.bytes == Data([1, 2]))
  }

  @Test func theIdMayBeAUUIDUnderTag37() throws {
    #expect(MeetingNotesFile(file(id: [0xD8, 37, 0x50] + bytes))?.id == (try id))
  }

  @Test func theIdMayBeText() throws {
    let text = Array((try id).description.utf8)
    #expect(MeetingNotesFile(file(id: [0x78, UInt8(text.count)] + text))?.id == (try id))
    let uuid = Array("00010203-0405-0607-0809-0A0B0C0D0E0F".utf8)
    #expect(MeetingNotesFile(file(id: [0x78, UInt8(uuid.count)] + uuid))?.id == (try id))
  }

  @Test func whatIsNoEnvelopeIsNotTakenForOne() throws {
    let whole = MeetingNotesFile(id: try id, data: Data(repeating: 7, count: 100)).encoded
    for count in whole.indices { #expect(MeetingNotesFile(Array(whole[..<count])) == nil) }
    #expect(MeetingNotesFile(file(id: [0x50] + bytes.dropLast())) == nil)
    #expect(MeetingNotesFile(file(id: [0x01])) == nil)
    #expect(MeetingNotesFile(file(id: [0x63, 0x61, 0x62, 0x63])) == nil)
    // A length that no file can have.
    #expect(MeetingNotesFile([0xA2, 0x62] + Array("id".utf8) + [0x5B] + [UInt8](repeating: 0xFF, count: 8)) == nil)
  }

  @Test(arguments: UInt64(0)..<64) func randomDamageNeverTraps(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var damaged = MeetingNotesFile(id: try id, data: Data(repeating: 7, count: 40)).encoded
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    if let file = MeetingNotesFile(damaged) { #expect(file.data.count <= damaged.count, "seed \(seed)") }
  }
}

struct ImportedFileTests {
  @Test func aDocumentIsKnownByItsContent() async throws {
    let damaged = ImportedFile.magic + [0, 0, 0, 0, 0, 200]
    await #expect(throws: NotesError.self) { _ = try await ImportedFile.read(damaged) }
    guard case .text(let text, nil) = try await ImportedFile.read(Array("# a\r\nb".utf8)) else {
      Issue.record("no text")
      return
    }
    #expect(text == Array("# a\nb\n".utf8) || text == Array("# a\r\nb\n".utf8))
    await #expect(throws: NotesError.self) { _ = try await ImportedFile.read([0x61, 0]) }
  }

  @Test func jsonIsANoteOrAMeeting() async throws {
    guard case .text(let text, "T") = try await ImportedFile.read(Array(#"{"title": "T", "text": "x"}"#.utf8)) else {
      Issue.record("no text")
      return
    }
    #expect(text == Array("x".utf8))
    let meeting = #"{"title":"M","attendees":["Ana",3],"agendas":[{"id":"1","title":"Tea","discussion":"hot"},7,{}]}"#
    guard case .meeting(let content) = try await ImportedFile.read(Array(meeting.utf8)) else {
      Issue.record("no meeting")
      return
    }
    #expect(content.attendees == ["Ana"])
    #expect(content.agendas.map(\.id) == ["1", "3"])
    #expect(content.markdown.hasPrefix("# M\n\n- Ana\n\n## Tea\n\nhot\n"))
    await #expect(throws: NotesError.self) { _ = try await ImportedFile.read(Array(#"{"other": 1}"#.utf8)) }
    await #expect(throws: NotesError.self) { _ = try await ImportedFile.read(Array(#"{"text": "a\u0000b"}"#.utf8)) }
  }
}
