/// A whole document as JSON, for reading and for comparison with other implementations.
extension Document {
  /// `heads`; `value` with types, ids, conflicts and marks; `texts` by path; `stats`; and the `changes` in the order of
  /// this replica, each with its bytes. An object nested deeper than `valueDepthLimit` has the type `…` and no content,
  /// and so has what is left when conflicts inside conflicts, or pieces of a text with very many marks, have taken the
  /// room.
  /// - Complexity: O(n) in the document and, with changes, in its history.
  public func dump(includingChanges: Bool = true) -> DumpedJSON {
    withCore { core in
      core.commitPending()
      var texts: [(key: String, value: DumpedJSON)] = []
      let dump = DocumentDump(core: core)
      let value = dump.object(.zero, path: "", texts: &texts)
      var members: [(key: String, value: DumpedJSON)] = [
        ("heads", .array(core.heads.map { .string($0.description) })), ("value", value), ("texts", .object(texts)),
        ("stats", .object([("changes", .number(core.graph.count)), ("ops", .number(dump.keptOpCount))])),
      ]
      if includingChanges {
        members.append(("changes", .array(core.graph.records.indices.map { dump.change($0) })))
      }
      return .object(members)
    }
  }
}

extension DocumentDump {
  /// How many operations a saved document lists: all except deletions.
  fileprivate var keptOpCount: Int {
    var count = 0
    core.log.forEachRun(in: 0..<core.log.opCount) { run, _ in
      switch run.kind {
      case .insertText: count += Int(run.count)
      case .deleteForward, .deleteBackward: break
      case .other: count += core.log.others[Int(run.text)].action == .delete ? 0 : 1
      }
    }
    return count
  }

  fileprivate func change(_ row: Int) -> DumpedJSON {
    let record = core.graph.records[row], header = core.header(ofRow: row), raw = core.chunk(ofRow: row)
    let body = ArraySlice(raw)
    var members: [(key: String, value: DumpedJSON)] = [
      ("hash", .string(core.graph.hashes[row].description)), ("actor", .string(header.actor.hexadecimal)),
      ("seq", .number(Int(header.seq))), ("start_op", .number(Int(record.startOp))),
      ("max_op", .number(Int(record.startOp) - 1 + Int(record.opCount))), ("ops", .number(Int(record.opCount))),
      ("time", .number(Int(header.time))), ("message", header.message.map { .string($0) } ?? .null),
      ("deps", .array(header.deps.map { .string($0.description) })), ("extra", .string(hexadecimal(header.extra))),
      ("other_actors", .array(otherActors(of: body).map { .string($0.hexadecimal) })),
      ("raw", .string(hexadecimal(raw))),
    ]
    if raw.count > Chunk.compressionThreshold {
      let compressed = Chunk.encodeCompressed(changeBody: core.body(ofRow: row), hash: core.graph.hashes[row])
      members.append(("compressed", .string(hexadecimal(compressed))))
    }
    return .object(members)
  }

  /// The actors besides the author that a change's chunk names, in the chunk's order.
  private func otherActors(of chunk: ArraySlice<UInt8>) -> [ActorId] {
    var actors: [ActorId] = []
    do throws(FormatError) {
      guard let body = try ChunkReader.all(chunk).first?.body else { return [] }
      var reader = ByteReader(body)
      _ = try reader.hashes()
      _ = try reader.actor()
      for _ in 0..<2 { _ = try reader.uleb() }
      _ = try reader.sleb()
      _ = try reader.lengthPrefixed()
      for _ in 0..<(try reader.count(itemByteCount: 1)) { actors.append(try reader.actor()) }
    } catch {
      preconditionFailure("a change that was written can be read: \(error)")
    }
    return actors
  }
}

/// Bytes in lower-case hexadecimal.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
  return String(decoding: text, as: UTF8.self)
}
