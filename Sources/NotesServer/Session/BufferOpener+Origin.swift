import Automerge
import AutomergeRepo

/// A buffer that is being opened, as its client described it.
struct OpenedBuffer {
  let uri: String
  /// The number of its opening.
  let number: Int
  let record: NoteRecord
  /// The note's file.
  let path: String
  let version: Int
  let text: [UInt8]
  /// If it was a plain file's buffer, which its client may have changed since: the text that it was opened with.
  let plainText: [UInt8]?
  /// Given if the buffer has outlived a service.
  let reattachment: Reattachment?

  var key: NoteKey { record.key }
  var isReattached: Bool { reattachment != nil }
}

/// Finds out what the text of an opened buffer grew out of.
extension BufferOpener {
  /// What an earlier service knew of the buffer; nil if it has outlived none, or that is not known.
  func rememberedOrigin(of buffer: OpenedBuffer, _ handle: DocHandle) async throws -> BufferOrigin? {
    guard let reattachment = buffer.reattachment else { return nil }
    return try await reading(buffer) {
      try await self.origin(of: buffer.key, uri: buffer.uri, reattachment.memories, handle)
    }
  }

  /// The origin of the buffer's text; `held` is what the file held when the buffer was opened, if no service has examined that.
  ///
  /// - Parameter early: what the file had held when the opening began
  func origin(
    of buffer: OpenedBuffer, _ handle: DocHandle, remembered: BufferOrigin?, early: [TextBase]
  ) async throws -> (origin: BufferOrigin, held: TextBase?) {
    if let remembered { return (remembered, nil) }
    if let reattachment = buffer.reattachment {
      if let opened = reattachment.opened,
        let base = try await reading(
          buffer, { try await self.takeIn(opened: opened, at: buffer.path, buffer.key, handle, early: early) })
      {
        return (.known(base, object: base.object), base)
      }
      if !reattachment.isReread {
        let bases = try await reading(buffer) { [service] in
          try await service.notebook.clientBases(of: buffer.key, uri: buffer.uri, run: reattachment.run)
        }
        return (bases.isEmpty ? .stayed(early.map { $0.withChanges(of: reattachment.run) }) : .oneOf(bases), nil)
      }
    }
    var origin = try await reading(buffer) {
      try await self.origin(of: buffer.text, at: buffer.path, buffer.key, openedAs: buffer.plainText)
    }
    if buffer.isReattached, case .stayed(let left) = origin { origin = .stayed(left + early) }
    // A process that was killed may have merged the file's text without recording that.
    if origin.mayBeKnownElsewhere {
      _ = try await reading(buffer) { [service] in try await service.environment.catchUp(handle) }
    }
    return (origin, nil)
  }

  /// What the editor wrote to the file while no service was running; nil if the note has that, or it wrote nothing.
  func saved(_ buffer: OpenedBuffer, _ handle: DocHandle, _ origin: inout BufferOrigin) async throws -> TextDelta? {
    let grewOutOf = origin
    let found = try await reading(buffer) {
      try await self.savedMeanwhile(buffer.text, buffer.key, handle, grewOutOf)
    }
    switch found {
    case .isTakenIn(let base):
      origin = .known(base, object: NoteDocument(handle.document, item: buffer.record.item)?.textObject)
      return nil
    case .isNews(let way): return way
    case nil: return nil
    }
  }

  /// The merge of the buffer's text. If it would change the document, further texts are considered that the text may have grown
  /// out of, which takes longer.
  func merged(_ buffer: OpenedBuffer, _ handle: DocHandle, _ origin: inout BufferOrigin) async throws -> Merged? {
    var merged = await mergedOffLoop(buffer, handle, origin)
    if !buffer.isReattached, origin.mayBeKnownElsewhere, !(merged?.splices ?? []).isEmpty {
      let possible = try await reading(buffer) { [service] in
        try await service.notebook.editorTexts(of: buffer.key)
      }
      if case .stayed(let left) = origin { origin = .stayed(left + possible) }
      merged = await mergedOffLoop(buffer, handle, origin, possible: origin.isFile ? possible : [])
    }
    if !(merged?.splices ?? []).isEmpty, let stage = await stage(buffer.text, buffer.key, handle, origin) {
      origin = stage
      merged = await mergedOffLoop(buffer, handle, stage)
    }
    return merged
  }

  /// Finds the origin of a newly opened buffer's text: usually the file. A buffer that stayed while the note was
  /// deleted, or is older than the file for another reason, lacks what others wrote meanwhile.
  ///
  /// - Parameter opened: what the client had before it changed the text; nil if unknown
  func origin(
    of text: [UInt8], at path: String, _ key: NoteKey, openedAs opened: [UInt8]? = nil
  ) async throws -> BufferOrigin {
    if let opened {
      // The file may not exist yet, and the note already have a text.
      guard let bytes = try await service.files.read(path) else { return .unrelated }
      return await FileContents.holds(bytes, opened) ? .file : .unrelated
    }
    let bytes = try await service.files.read(path)
    // An editor shows an empty buffer for a missing file: the person has not deleted the text.
    if bytes == nil, text.isEmpty { return .missingFile }
    if let bytes, await FileContents.holds(bytes, text) { return .file }
    let left = service.notebook[key]?.hasLeftBuffers == true ? try await service.notebook.leftBases(of: key) : []
    return .stayed(left)
  }

  /// Determines what the text of a buffer that has outlived services grew out of; nil if unknown.
  func origin(
    of key: NoteKey, uri: String, _ memories: [KilledJournals.Memory], _ handle: DocHandle
  ) async throws(StorageError) -> BufferOrigin? {
    switch try await service.journal.killed.origin(of: key, uri: uri, memories, handle, service.notebook.storage) {
    case .known(let base, let object): .known(base, object: object)
    case .reloaded: .file
    case .unknown: nil
    }
  }

  /// Some services ended before they had opened the buffer. Does what they should have done: merges the text that the
  /// buffer was opened with into the note, as the text of a file. Returns that text as a base; nil if it cannot be one.
  ///
  /// - Parameter early: what the file held when this process began to open the buffer. Other people's text may have reached the file
  ///   many times since.
  func takeIn(
    opened: [UInt8], at path: String, _ key: NoteKey, _ handle: DocHandle, early: [TextBase]
  ) async throws -> TextBase? {
    guard service.mayWrite(key.document), opened.count <= ThreeWayMerge.maximumSearchedBytes else { return nil }
    var origin = try await origin(of: opened, at: path, key)
    if case .stayed(let left) = origin { origin = .stayed(left + early) }
    if origin.isFile { _ = try await service.environment.catchUp(handle) }
    guard let note = NoteDocument(handle.document, item: key.item) else { return nil }
    var merge = merge(note, handle, key.item, origin)
    var (buffer, splices) = merge.open(version: 0, text: opened)
    if origin.mayBeKnownElsewhere, !splices.isEmpty {
      // An editor may have written it, and the power have failed before the store knew that.
      let possible = try await service.notebook.editorTexts(of: key)
      if case .stayed(let left) = origin { origin = .stayed(left + possible) }
      merge = self.merge(note, handle, key.item, origin, possible: origin.isFile ? possible : [])
      (buffer, splices) = merge.open(version: 0, text: opened)
    }
    if origin.isDoubtful, !splices.isEmpty, let way = merge.wayThroughStage(opened, of: heldByFile(note, key)) {
      return TextBase(heads: handle.document.heads(), steps: [way], object: note.textObject)
    }
    if origin.isDoubtful, splices.contains(where: { $0.deleteUTF8 > 0 }) {
      service.recoveredTexts.keepSoon(
        key, "an old buffer replaced parts of it", DocumentText(note).allUTF8)
    }
    if !splices.isEmpty {
      let lacking = origin.isFile ? buffer.clientToDocument : nil
      let before = handle.document.heads()
      try service.environment.takeIn(fileOf: note, lacking: lacking, handle) {
        try handle.change { _ in try note.make(splices) }
      }
      buffers.changed(note, of: handle, since: before)
    }
    return TextBase(heads: handle.document.heads(), steps: [buffer.clientToDocument], object: note.textObject)
  }

  /// The origin of a text that its editor read from the file between two contents that are known; nil if it is none, or certain.
  func stage(
    _ text: [UInt8], _ key: NoteKey, _ handle: DocHandle, _ origin: BufferOrigin
  ) async -> BufferOrigin? {
    guard case .stayed = origin, let note = NoteDocument(handle.document, item: key.item) else { return nil }
    let heads = handle.document.heads()
    let way = await merge(note, handle, key.item, origin).wayThroughStageOffLoop(text, of: heldByFile(note, key))
    guard let way, handle.document.heads() == heads else { return nil }
    return .known(TextBase(heads: heads, steps: [way], object: note.textObject), object: note.textObject)
  }

  /// What the file is known to have contained since the note has this text object, latest first.
  func heldByFile(_ note: NoteDocument, _ key: NoteKey) -> [TextBase] {
    (service.notebook[key]?.fileBases ?? []).filter { $0.object == nil || $0.object == note.textObject }
  }

  /// Checks whether the file contains an earlier state of a buffer that has outlived its service; nil if not.
  func savedMeanwhile(
    _ text: [UInt8], _ key: NoteKey, _ handle: DocHandle, _ origin: BufferOrigin
  ) async throws -> SavedMeanwhile? {
    guard let path = service.notebook[key]?.path else { return nil }
    try await service.environment.loadBase(of: key)
    guard case .found(let bytes, _) = try await service.files.look(path, since: nil),
      let contents = try? FileContents(reading: bytes, known: service.notebook[key]?.shape),
      let note = NoteDocument(handle.document, item: key.item)
    else { return nil }
    let merge = merge(note, handle, key.item, origin)
    // The process that merged it may have written other people's words to the file since.
    if let base = await merge.grewOffLoop(into: text, throughOneOf: heldByFile(note, key)) { return .isTakenIn(base) }
    let file = contents.text(besides: text)
    return await merge.grewOffLoop(into: text, through: file).map { .isNews($0) }
  }
}
