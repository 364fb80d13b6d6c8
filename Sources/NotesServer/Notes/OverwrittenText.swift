/// What another program wrote to a working file, and this process or its editor wrote over: no file has it any more.
struct OverwrittenText {
  let key: NoteKey
  let bytes: [UInt8]
  /// Distinguishes it from the others of its note, in the journal too.
  let stamp: RecoveredText.Stamp
  /// Whether it became a recovered text at once.
  var isKept = false

  var recovered: RecoveredText {
    RecoveredText(id: key.document, stamp: stamp, reason: RecoveredText.overwritten, text: bytes)
  }
}
