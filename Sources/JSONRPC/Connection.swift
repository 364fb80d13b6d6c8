/// One side of a JSON-RPC conversation: bytes in, events out; messages in, frames out.
///
/// It does no I/O: bytes go in with `receive` (or `append` and `nextEvent`), and frames leave through `send` before the
/// call that makes them returns. It knows only the method `$/cancelRequest`, which belongs to the base protocol.
///
/// Not thread-safe: use it only where the session runs.
public final class Connection {
  public enum Event: Equatable, Sendable {
    /// Needs exactly one `reply`.
    case request(id: RequestId, method: String, params: JSONValue?)
    case notification(method: String, params: JSONValue?)
    /// The response to our request `id` for `method`.
    case response(id: RequestId, method: String, result: Result<JSONValue, ResponseError>)
    /// The other side no longer wants the answer. It still must get one: `ResponseError.requestCancelled` or the result.
    case cancelled(id: RequestId)
    /// An invalid message arrived, and was answered if possible. For the log; the conversation continues.
    case protocolError(ResponseError)
    /// The frames can no longer be told apart. The connection sent an error if it could, and reads nothing more.
    case fatal(FrameError)
  }

  /// Our request ids start here. Vim mistakes a request for a response if its id equals one of Vim's own, which count
  /// from 1; and it loses responses to ids that are strings.
  public static let firstRequestId: Int64 = 1 << 30

  private var reader: FrameReader
  private let jsonLimits: JSONLimits
  private let send: ([UInt8]) -> Void
  private var unanswered: Set<RequestId> = []
  private var methodsAsked: [RequestId: String] = [:]
  private var nextRequestId = Connection.firstRequestId
  private var isFatal = false

  /// - Parameter send: called with one whole frame at a time, in order
  public init(
    frameLimit: Int = FrameReader.defaultFrameLimit, jsonLimits: JSONLimits = JSONLimits(),
    send: @escaping ([UInt8]) -> Void
  ) {
    reader = FrameReader(frameLimit: frameLimit)
    self.jsonLimits = jsonLimits
    self.send = send
  }

  /// Requests of the other side that have no reply yet.
  public var unansweredRequests: Set<RequestId> { unanswered }

  /// Whether the input ends in the middle of a frame.
  public var hasPartialFrame: Bool { reader.unreadByteCount > 0 }

  /// Reads bytes and calls `handle` for each event as soon as it is complete, so `handle` may send a reply.
  public func receive(_ bytes: some Sequence<UInt8>, _ handle: (Event) -> Void) {
    append(bytes)
    while let event = nextEvent() { handle(event) }
  }

  /// Appends bytes; `nextEvent` returns what they mean.
  public func append(_ bytes: some Sequence<UInt8>) {
    reader.append(bytes)
  }

  /// The next event; nil until more bytes come.
  public func nextEvent() -> Event? {
    while !isFatal {
      do {
        guard let body = try reader.next() else { return nil }
        if let event = event(in: body) { return event }
      } catch {
        isFatal = true
        respond(.null, .failure(.parseError("The frame cannot be read: \(error).")))
        return .fatal(error)
      }
    }
    return nil
  }

  /// Answers a request. Later calls for the same request do nothing and return `false`.
  @discardableResult
  public func reply(to id: RequestId, _ result: Result<JSONValue, ResponseError>) -> Bool {
    guard unanswered.remove(id) != nil else { return false }
    respond(id, result)
    return true
  }

  /// Answers a request with a result that is already JSON text.
  @discardableResult
  public func reply(to id: RequestId, encoded result: [UInt8]) -> Bool {
    guard unanswered.remove(id) != nil else { return false }
    var body = Array("{\"jsonrpc\":\"2.0\",\"id\":".utf8)
    body.reserveCapacity(body.count + result.count + 32)
    id.json.write(to: &body)
    body.append(contentsOf: ",\"result\":".utf8)
    body.append(contentsOf: result)
    body.append(UInt8(ascii: "}"))
    send(FrameWriter.frame(body))
    return true
  }

  public func notify(_ method: String, _ params: JSONValue? = nil) {
    send(FrameWriter.frame(.notification(method: method, params: params)))
  }

  /// Sends a notification whose parameters are already JSON text.
  public func notify(_ method: String, encoded params: [UInt8]) {
    var body: [UInt8] = []
    body.reserveCapacity(params.count + method.utf8.count + 64)
    body.append(contentsOf: "{\"jsonrpc\":\"2.0\",\"method\":".utf8)
    body.append(quoted: method)
    body.append(contentsOf: ",\"params\":".utf8)
    body.append(contentsOf: params)
    body.append(UInt8(ascii: "}"))
    send(FrameWriter.frame(body))
  }

  /// Sends a request; the answer arrives as an event with this id.
  @discardableResult
  public func request(_ method: String, _ params: JSONValue? = nil) -> RequestId {
    let id = RequestId.int(nextRequestId)
    nextRequestId += 1
    methodsAsked[id] = method
    send(FrameWriter.frame(.request(id: id, method: method, params: params)))
    return id
  }

  /// Tells the other side that we no longer need the answer to our request. If it answers anyway, that is an event.
  public func cancel(_ id: RequestId) {
    guard methodsAsked[id] != nil else { return }
    notify("$/cancelRequest", ["id": id.json])
  }

  private func event(in body: [UInt8]) -> Event? {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: body, limits: jsonLimits)
    } catch {
      return refuse(.null, .parseError("The message is not JSON: \(error)."))
    }
    do {
      return event(for: try Message(json))
    } catch {
      return error.isResponse ? .protocolError(error.response) : refuse(error.id, error.response)
    }
  }

  private func event(for message: Message) -> Event? {
    switch message {
    case .request(let id, let method, let params):
      guard unanswered.insert(id).inserted else {
        return refuse(id, .invalidRequest("A request with the id \(id) is still unanswered."))
      }
      return .request(id: id, method: method, params: params)
    case .notification("$/cancelRequest", let params):
      guard let id = params?["id"].flatMap(RequestId.init), unanswered.contains(id) else { return nil }
      return .cancelled(id: id)
    case .notification(let method, let params):
      return .notification(method: method, params: params)
    case .response(let id, let result):
      guard let method = methodsAsked.removeValue(forKey: id) else {
        return .protocolError(.invalidRequest("A response came to the id \(id), which was not asked."))
      }
      return .response(id: id, method: method, result: result)
    }
  }

  private func refuse(_ id: RequestId, _ error: ResponseError) -> Event {
    respond(id, .failure(error))
    return .protocolError(error)
  }

  private func respond(_ id: RequestId, _ result: Result<JSONValue, ResponseError>) {
    send(FrameWriter.frame(.response(id: id, result: result)))
  }
}
