import Foundation

/// Reads a change that is one run of plain text or of deletions: nearly every change that people make.
///
/// Only what tells one such change from another is read; the change is then written again, and taken only if the same
/// bytes come out. Whatever this does not know, `ChangeDecoder` reads column by column.
extension ChangeDecoder {
  /// The change whose columns come next; nil if it is not of this kind.
  static func singleRun(_ chunk: Chunk, header: ChangeHeader, actors: [ActorId], _ reader: ByteReader) -> DecodedChange?
  {
    guard actors.count <= 2 else { return nil }
    var reader = reader
    guard let found = try? readSingleRun(&reader, startOp: header.startOp, actorCount: actors.count) else { return nil }
    let (run, text) = found
    let change = DecodedChange(chunk.hash, header, actors, run: run, text: Array(text))
    var encoder = SingleRunEncoder()
    encoder.write(change)
    let isSame = chunk.body.withUnsafeBufferPointer { body in
      body.count == encoder.body.count
        && (body.baseAddress.map { left in encoder.body.baseAddress.map { memcmp(left, $0, body.count) == 0 } == true }
          ?? false)
    }
    return isSame ? change : nil
  }

  private static func readSingleRun(
    _ reader: inout ByteReader, startOp: UInt32, actorCount: Int
  ) throws(FormatError) -> (OpRun, ArraySlice<UInt8>)? {
    let columnCount = try reader.uleb()
    guard columnCount == 9 || columnCount == 10 else { return nil }
    let isText = columnCount == 9
    var lengths = (objectActor: 0, objectCounter: 0, keyActor: 0, keyCounter: 0, insert: 0, metadata: 0, raw: 0)
    lengths.objectActor = try columnLength(0x01, &reader)
    lengths.objectCounter = try columnLength(0x02, &reader)
    lengths.keyActor = try columnLength(0x11, &reader)
    lengths.keyCounter = try columnLength(0x13, &reader)
    lengths.insert = try columnLength(0x34, &reader)
    _ = try columnLength(0x42, &reader)
    lengths.metadata = try columnLength(0x56, &reader)
    if isText { lengths.raw = try columnLength(0x57, &reader) }
    _ = try columnLength(0x70, &reader)
    if !isText {
      _ = try columnLength(0x71, &reader)
      _ = try columnLength(0x73, &reader)
    }
    let objectActor = try firstValue(&reader), objectCounter = try firstValue(&reader)
    // The key: the element in the first row, and how the others follow it.
    let keyActorEnd = reader.offset + lengths.keyActor
    let keyHeader = try reader.sleb()
    let keyActor = keyHeader == 0 ? nil : try reader.uleb()
    _ = try reader.bytes(count: keyActorEnd - reader.offset)
    let keyCounterEnd = reader.offset + lengths.keyCounter
    let counterHeader = try reader.sleb(), keyCounter = try reader.sleb()
    var step = keyCounter
    if counterHeader < 0 {
      if counterHeader == -1, reader.offset < keyCounterEnd { _ = try reader.sleb() }
      step = reader.offset < keyCounterEnd ? try reader.sleb() : 1
    }
    _ = try reader.bytes(count: keyCounterEnd - reader.offset)
    _ = try reader.bytes(count: lengths.insert)
    let actionHeader = try reader.sleb(), action = try reader.uleb()
    guard action == (isText ? 1 : 3), actionHeader == -1 || actionHeader > 1,
      let count = UInt32(exactly: actionHeader == -1 ? 1 : actionHeader), count - 1 <= UInt32.max - startOp
    else { return nil }
    _ = try reader.bytes(count: lengths.metadata)
    guard objectActor < actorCount, let owner = UInt32(exactly: objectCounter), owner > 0 else { return nil }
    let object = OpId(counter: owner, actor: UInt32(objectActor))
    var target = OpId.zero
    if let keyActor {
      guard keyActor < actorCount, let counter = UInt32(exactly: keyCounter), counter > 0 else { return nil }
      target = OpId(counter: counter, actor: UInt32(keyActor))
    } else if keyCounter != 0 || !isText {
      return nil
    }
    // A second actor that nothing names does not come out when the change is written again.
    if actorCount == 2, object.actor == 0, target.actor == 0 { return nil }
    if isText {
      let text = try reader.bytes(count: lengths.raw)
      guard text.count == Int(count), text.allSatisfy({ $0 < 0x80 }) else { return nil }
      let run = OpRun.insertion(object: object, behind: target, count: text.count, text: 0, byteCount: text.count)
      return (run, text)
    }
    if count == 1 { step = 1 }
    guard step == 1 || step == -1 else { return nil }
    let last = Int64(target.counter) + step * Int64(count - 1)
    guard last > 0, last <= Int64(UInt32.max) else { return nil }
    return (.deletion(object: object, from: target, count: Int(count), step: Int(step)), [])
  }

  private static func columnLength(_ spec: UInt64, _ reader: inout ByteReader) throws(FormatError) -> Int {
    guard try reader.uleb() == spec else { throw .invalid(.key, at: reader.offset) }
    return Int(try reader.uleb32())
  }

  private static func firstValue(_ reader: inout ByteReader) throws(FormatError) -> UInt64 {
    _ = try reader.sleb()
    return try reader.uleb()
  }
}

extension SingleRunEncoder {
  /// Writes a change of one run of ASCII or of deletions, whose other actors are all named by it.
  mutating func write(_ change: borrowing DecodedChange) {
    let run = change.runs[0], header = change.header
    begin(
      room: 32 * header.deps.count + 3 * FormatLimits.actorByteCount + (header.message?.utf8.count ?? 0)
        + change.text.count)
    count(header.deps.count)
    for each in header.deps { hash(each) }
    head(
      Head(seq: header.seq, startOp: header.startOp, time: header.time, message: header.message), actor: header.actor)
    count(change.actorList.count - 1)
    for other in change.actorList.dropFirst() { actor(other) }
    let object = Id(actor: Int(run.object.actor), counter: run.object.counter)
    let target = run.target.isZero ? nil : Id(actor: Int(run.target.actor), counter: run.target.counter)
    if run.kind == .insertText {
      change.text.withUnsafeBufferPointer {
        table(object: object, target: target, id: header.startOp, count: Int(run.count), .text($0))
      }
    } else {
      table(
        object: object, target: target, id: header.startOp, count: Int(run.count), .deletion(step: Int64(run.step)))
    }
  }
}
