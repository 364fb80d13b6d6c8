import Automerge
import AutomergeRepo
import Foundation

/// One entry of a journal: changes of a document together with their effect on the editors' texts, so that neither
/// exists without the other.
///
/// On disk: four bytes of length, eight bytes of checksum of the body, both big-endian, then the body in CBOR.
struct JournalFrame: Hashable {
  var document: DocumentId
  /// As Automerge chunks.
  var changes: [UInt8] = []
  var clients: [Client] = []
  /// What working files contain, now that their words are in the document.
  var files: [FileNews] = []
  /// The texts that editors reported as written to working files.
  var written: [Client] = []
  /// The texts of other programs that this process has written over and may not have merged.
  var overwritten: [Client] = []

  /// A change of one editor's copy of a note.
  struct Client: Hashable {
    enum News: Hashable {
      /// The editor has this now.
      case has(ClientBase)
      /// An edit was sent that leads to the document's text at these heads.
      case sent(ClientBase.Sent)
      /// It closed the buffer with this text before the text was merged; or, of a file, another program had written it.
      case left(LeftText)
      case closed
      /// What another program had written at this time is merged and stored, or kept as a recovered text.
      case merged(time: Int)
    }

    struct LeftText: Hashable {
      /// UTF-8.
      var text: [UInt8]
      /// Milliseconds since 1970.
      var time: Int
    }

    var item: String?
    /// Distinguishes the editor's other buffers of the note from the first one; see `BufferKey`.
    var twin: String?
    var news: News
  }

  private static let headByteCount = 4 + 8

  /// - Complexity: O(n) in the changes; a few microseconds for a keystroke, which waits for it.
  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// Appends the entry in its form on disk.
  func append(to bytes: inout [UInt8]) {
    let start = bytes.count, body = start + Self.headByteCount
    bytes.reserveCapacity(body + changes.count + 512)
    var writer = CBORWriter(after: bytes)
    bytes = []
    writer.output.append(contentsOf: repeatElement(0, count: Self.headByteCount))
    encode(into: &writer)
    bytes = writer.output
    let checksum = Self.checksum(of: bytes[body...])
    let length = bytes.count - body
    for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
    for index in 0..<8 { bytes[start + 4 + index] = UInt8(truncatingIfNeeded: checksum >> (56 - 8 * UInt64(index))) }
  }

  private func encode(into writer: inout CBORWriter) {
    writer.map(
      1 + [changes.isEmpty, clients.isEmpty, files.isEmpty, written.isEmpty, overwritten.isEmpty].count { !$0 })
    writer.text("document")
    writer.bytes(document.bytes)
    if !changes.isEmpty {
      writer.text("changes")
      writer.bytes(changes)
    }
    if !clients.isEmpty {
      writer.text("clients")
      writer.array(clients.count)
      for client in clients { client.encode(into: &writer) }
    }
    if !files.isEmpty {
      writer.text("files")
      writer.array(files.count)
      for file in files { file.encode(into: &writer) }
    }
    if !written.isEmpty {
      writer.text("written")
      writer.array(written.count)
      for client in written { client.encode(into: &writer) }
    }
    if !overwritten.isEmpty {
      writer.text("overwritten")
      writer.array(overwritten.count)
      for text in overwritten { text.encode(into: &writer) }
    }
  }

  /// FNV-1a of 64 bits: it detects a torn entry. It does not stop forgery by a program that can write the file.
  private static func checksum(of bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBufferPointer { bytes in
      bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
  }

  /// The entries of a journal, up to one that the process did not finish writing.
  static func all(in bytes: [UInt8]) -> [JournalFrame] {
    var frames: [JournalFrame] = [], place = 0
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    while bytes.count - place > headByteCount {
      let length = Int(number(place..<place + 4))
      let start = place + headByteCount
      guard length <= bytes.count - start else { break }
      let body = bytes[start..<start + length]
      guard checksum(of: body) == number(place + 4..<start) else { break }
      if let frame = JournalFrame(body) { frames.append(frame) }
      place = start + length
    }
    return frames
  }

  private init?(_ body: ArraySlice<UInt8>) {
    guard let record = try? CBOR(body, limits: .stored),
      let id = record["document"]?.bytes.flatMap({ DocumentId(bytes: Array($0)) })
    else { return nil }
    self.init(
      document: id, changes: record["changes"]?.bytes.map { Array($0) } ?? [],
      clients: record["clients"]?.array?.compactMap(Client.init) ?? [],
      files: record["files"]?.array?.compactMap(FileNews.init) ?? [],
      written: record["written"]?.array?.compactMap(Client.init) ?? [],
      overwritten: record["overwritten"]?.array?.compactMap(Client.init) ?? [])
  }

  init(
    document: DocumentId, changes: [UInt8] = [], clients: [Client] = [], files: [FileNews] = [],
    written: [Client] = [], overwritten: [Client] = []
  ) {
    (self.document, self.changes, self.clients, self.files) = (document, changes, clients, files)
    (self.written, self.overwritten) = (written, overwritten)
  }
}

extension JournalFrame.Client {
  fileprivate func encode(into writer: inout CBORWriter) {
    let count: Int =
      switch news {
      case .has, .merged: 1
      case .sent, .left: 2
      case .closed: 0
      }
    writer.map(count + (item == nil ? 0 : 1) + (twin == nil ? 0 : 1))
    if let item {
      writer.text("item")
      writer.text(item)
    }
    if let twin {
      writer.text("twin")
      writer.text(twin)
    }
    switch news {
    case .has(let base):
      writer.text("has")
      base.encode(into: &writer)
    case .sent(let sent):
      writer.text("sent")
      writer.integer(sent.rev)
      writer.text("heads")
      writer.hashes(sent.heads)
    case .left(let left):
      writer.text("left")
      writer.bytes(left.text)
      writer.text("time")
      writer.integer(left.time)
    case .merged(let time):
      writer.text("time")
      writer.integer(time)
    case .closed: break
    }
  }

  fileprivate init?(_ cbor: CBOR) {
    guard case .map = cbor else { return nil }
    if let base = cbor["has"] {
      guard let base = ClientBase(base) else { return nil }
      news = .has(base)
    } else if let rev = cbor["sent"]?.integer {
      guard let heads = cbor["heads"].flatMap({ Set<ChangeHash>($0) }) else { return nil }
      news = .sent(ClientBase.Sent(rev: rev, heads: heads))
    } else if let text = cbor["left"]?.bytes {
      guard let time = cbor["time"]?.integer else { return nil }
      news = .left(LeftText(text: Array(text), time: time))
    } else if let time = cbor["time"]?.integer {
      news = .merged(time: time)
    } else {
      news = .closed
    }
    (item, twin) = (cbor["item"]?.text, cbor["twin"]?.text)
  }
}

extension JournalFrame.Client {
  init(_ key: BufferKey, _ news: News) { self.init(item: key.item, twin: key.twin, news: news) }
}

/// The combined content of a journal.
struct JournalContent {
  /// The changes of each document, as chunks.
  var changes: [DocumentId: Data] = [:]
  /// The editor's copy of each note that it had open.
  var clients: [BufferKey: ClientBase] = [:]
  /// The contents of working files, as it had found them.
  var files: [NoteKey: FileNews] = [:]
  /// The texts of buffers that were closed and not merged.
  var left: [BufferKey: JournalFrame.Client.LeftText] = [:]
  /// The texts that editors last reported as written to working files.
  var written: [NoteKey: ClientBase] = [:]
  /// The texts of other programs that it or its editor had written over and it had not merged.
  var overwritten: [NoteKey: [JournalFrame.Client.LeftText]] = [:]

  /// The notes that the process had open or had changed.
  var notes: Set<NoteKey> { Set(clients.keys.map(\.note)).union(changes.keys.map { NoteKey($0) }) }

  init(_ frames: [JournalFrame]) {
    for frame in frames {
      if !frame.changes.isEmpty { changes[frame.document, default: Data()] += frame.changes }
      for client in frame.clients {
        let key = BufferKey(NoteKey(frame.document, item: client.item), twin: client.twin)
        switch client.news {
        case .has(let base): clients[key] = base
        case .sent(let sent): clients[key]?.sent(sent.rev, sent.heads)
        case .left(let text): left[key] = text
        case .closed: (clients[key], left[key]) = (nil, nil)
        case .merged: break
        }
      }
      for file in frame.files {
        let key = NoteKey(frame.document, item: file.item)
        files[key] = file.following(files[key])
      }
      for client in frame.written {
        if case .has(let base) = client.news { written[NoteKey(frame.document, item: client.item)] = base }
      }
      for text in frame.overwritten {
        overwritten(text.news, NoteKey(frame.document, item: text.item))
      }
    }
  }

  private mutating func overwritten(_ news: JournalFrame.Client.News, _ key: NoteKey) {
    var texts = overwritten[key] ?? []
    switch news {
    // A new segment repeats it.
    case .left(let text): if !texts.contains(text) { texts.append(text) }
    case .merged(let time): texts.removeAll { $0.time == time }
    // By an earlier version: it had one text of each file.
    case .has, .sent, .closed: texts = []
    }
    overwritten[key] = texts.isEmpty ? nil : texts
  }
}
