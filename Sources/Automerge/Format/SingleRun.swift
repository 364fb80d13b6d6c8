/// A change that is one run of plain text or of deletions, as its columns are in memory.
///
/// Only what distinguishes such changes is read, so the result is right only if writing it again (`SingleRunEncoder`)
/// gives the same bytes. The text belongs to the memory, and is valid only as long as that is.
struct SingleRun {
  /// Its actors are indices into the change's list of actors; its text begins at 0.
  let run: OpRun
  let text: UnsafeBufferPointer<UInt8>

  /// Reads the columns that come next; nil if they are of another kind of change.
  init?(_ reader: inout MemoryReader, startOp: UInt32, actorCount: Int) {
    let columnCount = reader.uleb()
    guard columnCount == 9 || columnCount == 10 else { return nil }
    let isText = columnCount == 9
    var lengths = (objectActor: 0, objectCounter: 0, keyActor: 0, keyCounter: 0, insert: 0, metadata: 0, raw: 0)
    lengths.objectActor = Self.columnLength(0x01, &reader)
    lengths.objectCounter = Self.columnLength(0x02, &reader)
    lengths.keyActor = Self.columnLength(0x11, &reader)
    lengths.keyCounter = Self.columnLength(0x13, &reader)
    lengths.insert = Self.columnLength(0x34, &reader)
    _ = Self.columnLength(0x42, &reader)
    lengths.metadata = Self.columnLength(0x56, &reader)
    if isText { lengths.raw = Self.columnLength(0x57, &reader) }
    _ = Self.columnLength(0x70, &reader)
    if !isText {
      _ = Self.columnLength(0x71, &reader)
      _ = Self.columnLength(0x73, &reader)
    }
    let objectActor = Self.firstValue(&reader), objectCounter = Self.firstValue(&reader)
    // The key: the first row's element, and the step to the others.
    let keyActorEnd = reader.offset + lengths.keyActor
    let keyHeader = reader.sleb()
    let keyActor = keyHeader == 0 ? nil : reader.uleb()
    _ = reader.bytes(count: keyActorEnd - reader.offset)
    let keyCounterEnd = reader.offset + lengths.keyCounter
    let counterHeader = reader.sleb(), keyCounter = reader.sleb()
    var step = keyCounter
    if counterHeader < 0 {
      if counterHeader == -1, reader.offset < keyCounterEnd { _ = reader.sleb() }
      step = reader.offset < keyCounterEnd ? reader.sleb() : 1
    }
    _ = reader.bytes(count: keyCounterEnd - reader.offset)
    _ = reader.bytes(count: lengths.insert)
    let actionHeader = reader.sleb(), action = reader.uleb()
    guard action == (isText ? 1 : 3), actionHeader == -1 || actionHeader > 1,
      let count = UInt32(exactly: actionHeader == -1 ? 1 : actionHeader), count <= UInt32.max - startOp
    else { return nil }
    _ = reader.bytes(count: lengths.metadata)
    guard objectActor < actorCount, let owner = UInt32(exactly: objectCounter), owner > 0 else { return nil }
    let object = OpId(counter: owner, actor: UInt32(objectActor))
    var target = OpId.zero
    if let keyActor {
      guard keyActor < actorCount, let counter = UInt32(exactly: keyCounter), counter > 0 else { return nil }
      target = OpId(counter: counter, actor: UInt32(keyActor))
    } else if keyCounter != 0 || !isText {
      return nil
    }
    // A second actor that nothing names would be missing when the change is written again.
    if actorCount == 2, object.actor == 0, target.actor == 0 { return nil }
    if isText {
      let text = reader.bytes(count: lengths.raw)
      guard text.count == Int(count), text.allSatisfy({ $0 < 0x80 }) else { return nil }
      run = .insertion(object: object, behind: target, count: text.count, text: 0, byteCount: text.count)
      self.text = text
      return
    }
    if count == 1 { step = 1 }
    guard step == 1 || step == -1 else { return nil }
    let last = Int64(target.counter) + step * Int64(count - 1)
    guard last > 0, last <= Int64(UInt32.max) else { return nil }
    run = .deletion(object: object, from: target, count: Int(count), step: Int(step))
    text = UnsafeBufferPointer(start: nil, count: 0)
  }

  /// The length of a column, which must be the next one; otherwise the reader becomes bad.
  private static func columnLength(_ spec: UInt64, _ reader: inout MemoryReader) -> Int {
    guard reader.uleb() == spec else {
      _ = reader.bytes(count: .max)
      return 0
    }
    return Int(reader.uleb32())
  }

  /// The value that a column repeats.
  private static func firstValue(_ reader: inout MemoryReader) -> UInt64 {
    _ = reader.sleb()
    return reader.uleb()
  }
}
