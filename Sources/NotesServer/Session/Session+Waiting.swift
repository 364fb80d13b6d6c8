import AutomergeRepo
import JSONRPC

/// Buffers between file and note: those that wait for a document, and plain ones whose file has become a note.
extension Session {
  func isOpening(_ uri: String, _ number: Int) -> Bool {
    if case .opening(let opening)? = buffers[uri] { opening.number == number } else { false }
  }

  /// The buffer stays as it is until the document arrives: tells the person where they look.
  func waits(_ uri: String, _ number: Int, for source: AwaitedNotes.Source) {
    guard case .opening(var opening)? = buffers[uri], opening.number == number else { return }
    let id = opening.key.document
    let host = service.sharing.host(of: id)
    let name = source == .store ? "the store" : host.map { NoteNews.cut($0.name, to: 16) } ?? "a peer"
    opening.waitsFor = name
    buffers[uri] = .opening(opening)
    let title = service.notebook[opening.key]?.title ?? title(of: id)
    deliver(NoteNews.waiting(for: name).parameters(uri: uri, id: id, title: title, peer: host?.peer, name: host?.name))
    guard isNotesClient, case .object(var members) = status(of: opening) else { return }
    members["uri"] = .string(uri)
    connection.notify("notes/statusChanged", .object(members))
  }

  /// A buffer that waits for its document.
  func status(of opening: Opening) -> JSONValue {
    .object(present: [
      "stored": false, "access": .string(service.sharing.access(to: opening.key.document).rawValue),
      "network": .string(service.sharing.networkState), "discovery": .string(service.sharing.discoveryState),
      "peers": [], "waiting": opening.waitsFor.map(JSONValue.string),
    ])
  }

  /// The buffer is reopened while its document has not arrived. What was typed since may exist nowhere else.
  func keepTyped(_ opening: Opening, unlessIn text: [UInt8]) {
    guard opening.plain.text != opening.text, opening.plain.text != text else { return }
    service.keepSoon(opening.key.document, "the file was read again before the note arrived", opening.plain.text)
  }

  /// An editor shows as a note what this service does not know, having been restarted, or what was deleted while it was being
  /// opened. Another process may be about to tell of it.
  func tellUnlessFound(_ uri: String, _ version: Int, _ id: DocumentId?) {
    guard isNotesClient else { return }
    Task { @AutomergeRepo in
      await service.siblingsAreThere()
      _ = await service.clock.pause(for: Self.newsTime)
      guard phase == .running, case .plain(let plain)? = buffers[uri], plain.farewell == nil else { return }
      let record = id.flatMap { service.notebook[$0] }
      leftPlain(uri, plain, record?.wayOfDeletion ?? .notFound, record)
    }
  }

  /// How long other processes may take to tell what they know.
  private static let newsTime: Duration = .seconds(1)

  /// The editor shows a plain file as a note: from now on it shows what it is.
  func leftPlain(_ uri: String, _ plain: PlainBuffer, _ reason: NoteNews.Reason, _ record: NoteRecord? = nil) {
    guard isNotesClient, let path = FileURI.path(uri: uri) else { return }
    let record = record ?? service.notebook.record(atPath: path)
    let title = record?.title ?? FileName.title(ofFile: path)
    let event = NoteNews.detached(reason).parameters(uri: uri, id: record?.id, title: title, peer: nil, name: nil)
    var plain = plain
    plain.farewell = event
    buffers[uri] = .plain(plain)
    deliver(event)
  }

  /// Returns when no buffer of the document is being opened: it would be attached while the note is put away. Does not wait for
  /// one that waits for peers.
  func settleOpenings(of id: DocumentId) async {
    for (uri, buffer) in buffers {
      guard case .opening(let opening) = buffer, opening.key.document == id, opening.waitsFor == nil else { continue }
      let task = openings[opening.number]
      await OneReply<Void>.wait(otherwise: ()) { reply in
        whenAttached(uri) { _ in reply.resume(returning: ()) }
        Task { @AutomergeRepo in
          await task?.value
          reply.resume(returning: ())
        }
      }
    }
  }

  /// The file has become a note's, through another request, another process or the network: its plain buffers become the note.
  /// A request that adopts the buffer itself does so before this runs.
  func becameNote(_ path: String) {
    for (uri, buffer) in buffers {
      guard case .plain = buffer, FileURI.path(uri: uri) == path else { continue }
      Task { @AutomergeRepo in
        guard phase == .running, case .plain(let plain)? = buffers[uri],
          let record = service.notebook.record(atPath: path)
        else { return }
        open(record, at: path, uri: uri, plain, wasPlain: plain.farewell == nil && !plain.wasAttached)
      }
    }
  }
}

extension NoteRecord {
  /// Nil if the note is not deleted.
  fileprivate var wayOfDeletion: NoteNews.Reason? {
    deletedSince == nil ? nil : deletionSeen == nil ? .deleted : .deletedForEveryone
  }
}
