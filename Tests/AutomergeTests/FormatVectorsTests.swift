import TestSupport
import Testing

@testable import Automerge

/// Takes every change and document of the vectors apart into columns and writes each column again.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct FormatVectorsTests {}

extension FormatVectorsTests {
  /// The column decoded and encoded again, by its type.
  private func rewrite(_ spec: ColumnSpec, _ bytes: ArraySlice<UInt8>, _ mode: ColumnMode) throws -> [UInt8] {
    switch spec.kind {
    case .group, .actor, .integer, .valueMetadata: return try rewriteRuns(of: UInt64.self, bytes, mode)
    case .string: return try rewriteRuns(of: String.self, bytes, mode)
    case .delta:
      var decoder = DeltaDecoder(bytes, range: DeltaDecoder.anything, mode: mode)
      var encoder = DeltaEncoder()
      while let run = try decoder.nextRun() {
        if let first = run.first {
          encoder.appendAscending(first, count: run.count, step: run.step)
        } else {
          encoder.appendNull(count: run.count)
        }
      }
      return encoder.finish()
    case .boolean:
      var decoder = BooleanDecoder(bytes, mode: mode)
      var encoder = BooleanEncoder()
      while let run = try decoder.nextRun() { encoder.append(run.value, count: run.count) }
      return encoder.finish()
    case .valueRaw: return Array(bytes)
    }
  }

  private func rewriteRuns<Item: RunItem>(
    of: Item.Type, _ bytes: ArraySlice<UInt8>, _ mode: ColumnMode
  ) throws -> [UInt8] {
    var decoder = RunLengthDecoder<Item>(bytes, mode: mode)
    var encoder = RunLengthEncoder<Item>()
    while let run = try decoder.nextRun() { encoder.append(run.value, count: run.count) }
    return encoder.finish()
  }

  /// Every value of the columns, decoded and encoded again.
  private func rewriteValues(_ set: ColumnSet, metadata: ColumnSpec, raw: ColumnSpec) throws -> Bool {
    var decoder = ValueDecoder(metadata: set[metadata], raw: set[raw], mode: .strict)
    var encoder = ValueEncoder()
    while let run = try decoder.nextRun() {
      if run.isText {
        encoder.appendText(run.bytes)
      } else {
        for index in 0..<run.count { encoder.append(try run.value(at: index)) }
      }
    }
    try decoder.expectEnd()
    let (metadataBytes, rawBytes) = encoder.finish()
    return metadataBytes == Array(set[metadata]) && rawBytes == Array(set[raw])
  }

  /// The columns of a change, behind all the fields before them.
  private func columns(ofChange body: ArraySlice<UInt8>) throws -> ColumnSet {
    var reader = ByteReader(body)
    _ = try reader.hashes()
    _ = try reader.actor()
    _ = try reader.uleb()
    _ = try reader.uleb()
    _ = try reader.sleb()
    _ = try reader.string()
    for _ in 0..<(try reader.count(itemByteCount: 1)) { _ = try reader.actor() }
    let header = try ColumnHeader(from: &reader, allowingDeflate: false)
    return try header.readColumns(from: &reader)
  }

  @Test(arguments: Vectors.documentNames())
  func everyChangeIsTakenApartAndPutTogether(name: String) throws {
    let vector = try Vectors.load(name)
    for change in vector.json["changes"].items {
      let raw = try #require(change["raw"].hex)
      let chunk = try #require(try ChunkReader.all(raw[...]).first)
      #expect(chunk.hash.description == change["hash"].string)
      #expect(Chunk.encode(.change, body: Array(chunk.body)).bytes == raw)
      if let compressed = change["compressed"].hex {
        let inflated = try #require(try ChunkReader.all(compressed[...]).first)
        #expect(Array(inflated.body) == Array(chunk.body))
        #expect(inflated.hash == chunk.hash)
        #expect(raw.count > Chunk.compressionThreshold)
      }
      let set = try columns(ofChange: chunk.body)
      for (spec, bytes) in set.columns {
        #expect(try rewrite(spec, bytes, .strict) == Array(bytes), "\(name) column \(spec.rawValue)")
      }
      #expect(try rewriteValues(set, metadata: ColumnSpec.Op.valueMetadata, raw: ColumnSpec.Op.valueRaw))
    }
  }

  @Test(arguments: Vectors.documentNames())
  func everyDocumentIsTakenApartAndPutTogether(name: String) throws {
    let vector = try Vectors.load(name)
    let saved = try #require(vector.saved)
    let plain = try #require(vector.json["save_uncompressed"].hex)
    for (bytes, isPlain) in [(saved, false), (plain, true)] {
      let chunk = try #require(try ChunkReader.all(bytes[...]).first)
      #expect(chunk.kind == .document)
      var reader = ByteReader(chunk.body)
      var head = ByteWriter()
      head.uleb(try reader.count(itemByteCount: 1))
      let actorCount = Int(head.bytes[0])
      for _ in 0..<actorCount { head.actor(try reader.actor()) }
      head.hashes(try reader.hashes())
      let changeHeader = try ColumnHeader(from: &reader, allowingDeflate: true)
      let opHeader = try ColumnHeader(from: &reader, allowingDeflate: true)
      var budget = FormatLimits.inflatedByteCount(stored: chunk.body.count)
      let changes = try changeHeader.readColumns(from: &reader, inflating: &budget)
      let ops = try opHeader.readColumns(from: &reader, inflating: &budget)
      for (spec, column) in changes.columns + ops.columns {
        #expect(try rewrite(spec, column, .strict) == Array(column), "\(name) column \(spec.rawValue)")
      }
      #expect(try rewriteValues(ops, metadata: ColumnSpec.Op.valueMetadata, raw: ColumnSpec.Op.valueRaw))

      guard isPlain else { continue }
      var (changeWriter, opWriter) = (ColumnWriter(), ColumnWriter())
      for (spec, column) in changes.columns { changeWriter.append(spec, Array(column)) }
      for (spec, column) in ops.columns { opWriter.append(spec, Array(column)) }
      changeWriter.writeHeader(to: &head)
      opWriter.writeHeader(to: &head)
      changeWriter.writeData(to: &head)
      opWriter.writeData(to: &head)
      head.raw(reader.rest)
      #expect(Chunk.encode(.document, body: head.bytes).bytes == plain)
    }
  }

  /// None may trap or take long; most fail later than here, where columns get their meaning.
  @Test(arguments: ["negative", "upstream"])
  func badInputsAreReadInBoundedTime(folder: String) throws {
    let inputs = try Vectors.inputs(of: folder)
    #expect(!inputs.isEmpty)
    for input in inputs {
      let took = ProcessorTime.inThisThread {
        var reader = ChunkReader(input.bytes)
        while reader.next() != nil {}
      }
      #expect(took.seconds < 2, "\(input)")
    }
  }
}
