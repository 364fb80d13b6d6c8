/// Adds LSP's header to a body.
public enum FrameWriter {
  /// One frame, ready to send.
  public static func frame(_ body: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(body.count + 40)
    frame.append(contentsOf: "Content-Length: ".utf8)
    frame.append(decimal: Int64(body.count))
    frame.append(contentsOf: "\r\n\r\n".utf8)
    frame.append(contentsOf: body)
    return frame
  }

  public static func frame(_ message: Message) -> [UInt8] {
    frame(message.json.encoded())
  }
}
