import Foundation
import JSONRPC
import TestSupport

/// A running `notes-lsp` and all its messages so far. For use from one thread.
public final class NotesProcess {
  /// A response with an error in it.
  public struct Refusal: Error, CustomStringConvertible {
    public let method: String
    public let error: JSONValue
    public var code: Int? { error["code"]?.intValue }
    public var message: String { error["message"]?.stringValue ?? "" }
    public var kind: String? { error["data"]?["kind"]?.stringValue }
    public var description: String { "\(method) was refused: \(error)" }
  }

  public let child: ChildProcess
  /// Every message in the order of arrival.
  public private(set) var messages: [JSONValue] = []
  /// Output that was not a frame, or not JSON; standard output carries only frames.
  public private(set) var garbage: [String] = []
  /// Called with each notification as it is received.
  public var onNotification: (_ method: String, _ params: JSONValue) -> Void = { _, _ in }

  /// Called with each request of the service; returns whether the test answers it. Others are answered with null.
  public var onRequest: (_ id: JSONValue, _ method: String, _ params: JSONValue) -> Bool = { _, _, _ in false }

  /// The service's name for itself, for editors that outlive it.
  public private(set) var run: String?

  private var splitter = FrameSplitter()
  private var responses: [Int: JSONValue] = [:]
  private var nextId = 1

  /// Held, because the person's files must not disappear while it runs.
  private let user: NotesUser?

  public init(_ child: ChildProcess, of user: NotesUser? = nil) { (self.child, self.user) = (child, user) }

  // MARK: Sending

  public func send(_ message: JSONValue) { sendBody(message.encoded()) }
  /// Sends a well-formed frame around any bytes.
  public func sendBody(_ body: [UInt8]) { child.write(FrameSplitter.frame(body)) }
  public func sendBody(_ body: String) { sendBody(Array(body.utf8)) }
  public func sendRaw(_ bytes: String) { child.write(Array(bytes.utf8)) }

  public func notify(_ method: String, _ params: JSONValue?) {
    send(.object(present: ["jsonrpc": "2.0", "method": .string(method), "params": params]))
  }

  /// Sends a request and returns its id, without waiting.
  public func startRequest(_ method: String, _ params: JSONValue?) -> Int {
    defer { nextId += 1 }
    send(.object(present: ["jsonrpc": "2.0", "id": JSONValue(nextId), "method": .string(method), "params": params]))
    return nextId
  }

  /// Waits for the result of a request that was started.
  public func result(of id: Int, within duration: Duration = Patience.hang) throws -> JSONValue {
    try waitFor("the answer to request \(id)", within: duration) { self.responses[id] != nil }
    let response = responses.removeValue(forKey: id) ?? .null
    if let error = response["error"] { throw Refusal(method: "request \(id)", error: error) }
    return response["result"] ?? .null
  }

  /// Sends a request and waits for the whole response.
  public func respond(
    _ method: String, _ params: JSONValue?, within duration: Duration = Patience.hang
  ) throws -> JSONValue {
    let id = startRequest(method, params)
    try waitFor("the answer to \(method)", within: duration) { self.responses[id] != nil }
    return responses.removeValue(forKey: id) ?? .null
  }

  /// Sends a request and waits for its result.
  @discardableResult
  public func request(
    _ method: String, _ params: JSONValue? = [:], within duration: Duration = Patience.hang
  ) throws -> JSONValue {
    let response = try respond(method, params, within: duration)
    if let error = response["error"] { throw Refusal(method: method, error: error) }
    return response["result"] ?? .null
  }

  /// Sends a request that must be refused, and returns the refusal; nil if it was answered.
  public func refusal(_ method: String, _ params: JSONValue?) throws -> Refusal? {
    try respond(method, params)["error"].map { Refusal(method: method, error: $0) }
  }

  // MARK: Receiving

  /// Receives the messages that have arrived.
  public func collect() throws {
    child.collect()
    splitter.append(child.output)
    child.output.removeAll()
    while true {
      do {
        guard let body = try splitter.next() else { return }
        try receive(JSONValue(parsing: body))
      } catch {
        garbage.append("\(error)")
        throw ProcessError.ended(waitingFor: "a frame", details: "\(error)\n\(child.details)")
      }
    }
  }

  private func receive(_ message: JSONValue) {
    messages.append(message)
    switch (message["method"]?.stringValue, message["id"]?.intValue) {
    case (let method?, nil): onNotification(method, message["params"] ?? .null)
    case (let method?, let id?):
      if onRequest(JSONValue(id), method, message["params"] ?? .null) { break }
      send(["jsonrpc": "2.0", "id": JSONValue(id), "result": nil])
    case (nil, let id?): responses[id] = message
    case (nil, nil): break
    }
  }

  /// Waits until the condition holds, receiving messages.
  public func waitFor(
    _ what: String, within duration: Duration = Patience.hang, _ condition: () throws -> Bool
  ) throws {
    try Self.wait(for: what, of: [self], within: duration, condition)
  }

  /// Receives messages for this long: the tempo of a person who types, a random moment, or the length of a partition.
  /// No result may depend on it.
  public func listen(for duration: Duration) throws { try Self.listen(to: [self], for: duration) }

  /// Receives messages of all these processes for this long, or until one of them ends.
  public static func listen(to processes: [NotesProcess], for duration: Duration) throws {
    let end = ContinuousClock.now + duration
    repeat {
      for process in processes { try process.collect() }
      ChildProcess.waitForActivity(of: processes.map(\.child), until: end)
    } while ContinuousClock.now < end && processes.allSatisfy { $0.child.exit == nil }
  }

  /// Waits until the condition holds, receiving messages of all these processes.
  public static func wait(
    for what: String, of processes: [NotesProcess], within duration: Duration = Patience.hang,
    _ condition: () throws -> Bool
  ) throws {
    let deadline = ContinuousClock.now + duration
    while true {
      for process in processes { try process.collect() }
      if try condition() { return }
      if let ended = processes.first(where: { $0.child.exit != nil && $0.child.isOutputAtEnd }) {
        throw ProcessError.ended(waitingFor: what, details: ended.details)
      }
      if ContinuousClock.now >= deadline {
        throw ProcessError.timedOut(waitingFor: what, details: processes.map(\.details).joined(separator: "\n"))
      }
      ChildProcess.waitForActivity(of: processes.map(\.child), until: deadline)
    }
  }

  /// Waits for a notification, including one that has arrived since the message with number `start`.
  @discardableResult
  public func waitForNotification(
    _ method: String, from start: Int = 0, within duration: Duration = Patience.hang,
    where predicate: (JSONValue) -> Bool = { _ in true }
  ) throws -> JSONValue {
    var found: JSONValue?
    var checked = start
    try waitFor("notification \(method)", within: duration) {
      while found == nil, checked < messages.count {
        let message = messages[checked]
        checked += 1
        if message["method"]?.stringValue == method, let params = message["params"], predicate(params) {
          found = params
        }
      }
      return found != nil
    }
    return found ?? .null
  }

  /// The last messages and the end of the error output, for failures.
  public var details: String {
    messages.suffix(6).map { String("\($0)".prefix(600)) }.joined(separator: "\n") + "\n" + child.details
  }

  // MARK: Lifecycle

  @discardableResult
  public func initialize(userName: String, encodings: [PositionEncoding] = [.utf8]) throws -> JSONValue {
    let result = try request(
      "initialize",
      [
        "processId": .int(Int64(getpid())),
        "capabilities": ["general": ["positionEncodings": JSONValue(encodings.map(\.rawValue))]],
        "initializationOptions": [
          "notes": ["protocol": 1, "userName": .string(userName), "client": "harness"]
        ],
      ])
    notify("initialized", [:])
    run = result["capabilities"]?["experimental"]?["notes"]?["run"]?.stringValue
    return result
  }

  /// Shuts the service down as an editor does, and waits for its end.
  @discardableResult
  public func shutdown() throws -> ChildProcess.Exit {
    try request("shutdown", nil)
    notify("exit", nil)
    return try child.waitForExit()
  }

  /// Kills the service as a power cut would.
  public func kill() throws {
    child.killGroup()
    try child.waitForExit()
  }
}
