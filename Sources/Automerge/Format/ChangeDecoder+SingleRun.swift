import Foundation

/// Reads a change that is one run of plain text or of deletions: nearly every change that people make.
///
/// Reads only what distinguishes such changes, writes the change again, and accepts it only if the same bytes come out.
/// `ChangeDecoder` reads everything else column by column.
extension ChangeDecoder {
  /// The change whose columns come next; nil if it is not of this kind.
  static func singleRun(_ chunk: Chunk, header: ChangeHeader, actors: [ActorId], _ reader: ByteReader) -> DecodedChange?
  {
    guard actors.count <= 2 else { return nil }
    return chunk.body.withUnsafeBufferPointer { body in
      var reader = MemoryReader(body, from: reader.offset - chunk.body.startIndex)
      guard let found = SingleRun(&reader, startOp: header.startOp, actorCount: actors.count) else { return nil }
      let change = DecodedChange(chunk.hash, header, actors, run: found.run, text: Array(found.text))
      var encoder = SingleRunEncoder()
      encoder.write(change)
      return encoder.hasWritten(body) ? change : nil
    }
  }
}

extension SingleRunEncoder {
  /// Writes a change of one run of ASCII or of deletions that names all its other actors.
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
    change.text.withUnsafeBufferPointer { write(run, id: header.startOp, text: $0) }
  }
}

extension SingleRunEncoder {
  /// Writes the columns of one run of ASCII or of deletions, whose actors are numbered as the change names them.
  mutating func write(_ run: OpRun, id: UInt32, text: UnsafeBufferPointer<UInt8>) {
    let object = Id(actor: Int(run.object.actor), counter: run.object.counter)
    let target = run.target.isZero ? nil : Id(actor: Int(run.target.actor), counter: run.target.counter)
    table(
      object: object, target: target, id: id, count: Int(run.count),
      run.kind == .insertText ? .text(text) : .deletion(step: Int64(run.step)))
  }

  /// Whether these bytes are the ones that were written.
  func hasWritten(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let body = body
    guard let written = body.baseAddress, let start = bytes.baseAddress else { return false }
    return body.count == bytes.count && memcmp(written, start, body.count) == 0
  }
}
