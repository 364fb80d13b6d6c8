import Automerge
import AutomergeRepo
import Foundation

/// A power failure of a person's machine, and what it excuses.
extension Simulation {
  /// Words may be lost unless their author was told that they are stored. The store keeps what it has committed, and
  /// files keep what was written to them; both are synced, but for a file that has just replaced what another program wrote. The
  /// journal is not synced.
  func loseFlow(of person: SimulatedPerson) -> Bool {
    guard !person.services.isEmpty, !person.services.contains(where: \.journalIsBroken) else { return false }
    let gone = words.filter { authors[$0] == person.name && !injector.mustSurvive($0, isDeleted: false) }
    let back = deleted.filter {
      injector.deleters[$0] == person.name && !injector.mustSurvive($0, isDeleted: true)
    }
    injector.excuse(gone.union(back))
    words.subtract(gone)
    deleted.subtract(back)
    let known = knownWords
    orphans.removeAll { $0.person === person }
    for service in person.services { person.crash(service) }
    for run in person.disk.journals.keys.sorted() {
      guard let journal = person.disk.journals[run], let last = journal.segments.keys.max() else { continue }
      let bytes = journal.segments[last] ?? []
      person.disk.journals[run]?.segments[last] = Array(bytes.prefix(injector.below(bytes.count + 1)))
    }
    person.disk.loseNotDurable()
    injector.excuseTwice(onlyInFile(of: person).intersection(known))
    return true
  }

  /// The words that some service or some machine's disk has in the note, and those that a person has deleted.
  private var knownWords: Set<String> {
    var known = deleted
    for service in people.flatMap(\.services) { known.formUnion(Self.words(of: service.documentText(id))) }
    for person in people { known.formUnion(Self.words(of: person.disk.document(id).noteText)) }
    return known
  }

  /// The words that the person's working file has, and that the note on the disk has never had. If the peers have them, no
  /// program can tell that: the next service takes them from the file before it meets the peers.
  private func onlyInFile(of person: SimulatedPerson) -> Set<String> {
    let document = person.disk.document(id)
    var words = Self.words(of: String(decoding: person.disk[path] ?? [], as: UTF8.self))
    words.subtract(Self.words(of: document.noteText))
    guard !words.isDisjoint(with: deleted) else { return words }
    for hash in document.getHistory() { words.subtract(Self.words(of: document.noteText(at: [hash]))) }
    return words
  }

  private static func words(of text: String) -> Set<String> { Set(text.split(separator: "\n").map(String.init)) }
}

extension SimulatedDisk {
  /// A document as the next process finds it, in the store and in the journals.
  func document(_ id: String) -> Document {
    let stored = items.filter { $0.key.first == id && ["snapshot", "incremental"].contains($0.key.dropFirst().first) }
    let journaled = journals.values.flatMap(\.segments.values).flatMap { Self.chunks(inJournal: $0) }
    let document = Document()
    _ = document.applyChunks(stored.map(\.value) + journaled, areOwn: true)
    return document
  }

  /// The Automerge chunks in the whole entries of a journal; each entry has four bytes of length, eight of checksum, and the body.
  private static func chunks(inJournal bytes: [UInt8]) -> [Data] {
    var (chunks, place): ([Data], Int) = ([], 0)
    while place + 12 < bytes.count {
      let start = place + 12, end = start + bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      guard end <= bytes.count else { break }
      chunks += (start..<end).compactMap { chunk(in: bytes[$0..<end]) }
      place = end
    }
    return chunks
  }

  /// The chunk with which the bytes begin: four known bytes, four of checksum, one of kind, the length in LEB128, and the body.
  private static func chunk(in bytes: ArraySlice<UInt8>) -> Data? {
    guard bytes.starts(with: [0x85, 0x6F, 0x4A, 0x83]) else { return nil }
    var (length, shift, body) = (0, 0, bytes.startIndex + 9)
    while body < bytes.endIndex {
      length |= Int(bytes[body] & 0x7F) << shift
      shift += 7
      body += 1
      if bytes[body - 1] < 0x80 { break }
    }
    return body + length <= bytes.endIndex ? Data(bytes[bytes.startIndex..<body + length]) : nil
  }
}

extension Document {
  /// The note's text; empty if there is none.
  var noteText: String { noteText(at: heads()) }

  func noteText(at heads: Set<ChangeHash>) -> String {
    guard case .Object(let content, .Text)? = try? get(obj: .ROOT, key: "content") else { return "" }
    return (try? textAt(obj: content, heads: heads)) ?? ""
  }
}
