import AutomergeRepo
import Foundation
import JSONRPC

/// Carries out requests of this person's other processes.
@AutomergeRepo
protocol SiblingRequestPerforming: AnyObject {
  func performForSibling(_ method: String, _ params: JSONValue) async -> Result<JSONValue, ResponseError>
}

/// Requests that only the process with the network can carry out, passed to it by this person's other processes.
///
/// A process with the network reports at once that it has accepted a request, and answers when it is done. A process
/// without the network passes requests and answers on: the processes form a star, so each message reaches every process
/// once.
@AutomergeRepo
final class SiblingRequests {
  /// How long to wait for a process to accept the request.
  static let maximumSearch: Duration = .seconds(1)
  /// The same while another process is known to have the network: on a busy machine it may take long to read.
  static let maximumAcceptance: Duration = .seconds(15)
  /// The time limit for an answer: joining a large note may take long.
  static let maximumWait: Duration = .seconds(120)
  /// The most passed-on requests that a process remembers; beyond that it forgets the oldest.
  static let maximumPassedOn = 256

  private static let requestType = "notes-request"
  private static let answerType = "notes-answer"

  private let repo: Repo
  private let sharing: any SharingService
  private let clock: any RepoClock
  private let token = UUID().uuidString
  private var count = 0
  private var waiting: [String: Waiter] = [:]
  /// The requests we passed on, oldest first.
  private var origins: [Passed] = []
  /// Carries out requests here, if this process has the network.
  weak var performer: (any SiblingRequestPerforming)?

  /// A request for the process with the network: another process, or this one if it gets the network in time.
  private struct Passed {
    let id: String
    let peer: PeerId
    let fields: [String: CBOR]
    /// When the sender last reported that it waits.
    var since: Duration
    /// Whether another process carries it out.
    var isTaken = false
  }

  private final class Waiter {
    let reply: OneReply<Result<JSONValue, ResponseError>?>
    var timer: (any ScheduledAction)?

    init(_ reply: OneReply<Result<JSONValue, ResponseError>?>) { self.reply = reply }
  }

  init(repo: Repo, sharing: any SharingService, clock: any RepoClock) {
    (self.repo, self.sharing, self.clock) = (repo, sharing, clock)
    repo.onMessage(ofType: Self.requestType) { [weak self] fields, peer in self?.request(fields, from: peer) }
    repo.onMessage(ofType: Self.answerType) { [weak self] fields, peer in self?.answer(fields, from: peer) }
  }

  /// Nil if no process accepts the request.
  func ask(_ method: String, _ params: JSONValue) async -> Result<JSONValue, ResponseError>? {
    count += 1
    let id = "\(token)-\(count)"
    return await OneReply.wait(otherwise: nil) { reply in
      let waiter = Waiter(reply)
      waiting[id] = waiter
      search(for: id, since: clock.now)
      let fields: [String: CBOR] = [
        "request": .text(id), "method": .text(method), "params": .bytes(Data(params.encoded())),
      ]
      for sibling in repo.siblings { repo.send(type: Self.requestType, fields: fields, to: sibling) }
    }
  }

  /// Gives up after a while, and later if another process has the network.
  private func search(for id: String, since start: Duration) {
    waiting[id]?.timer = clock.schedule(after: Self.maximumSearch) { [weak self] in
      guard let self else { return }
      guard self.sharing.isNetworkElsewhere, self.clock.now - start < Self.maximumAcceptance else {
        return self.end(id, nil)
      }
      let stillWaits: [String: CBOR] = ["request": .text(id), "again": true]
      for sibling in self.repo.siblings { self.repo.send(type: Self.requestType, fields: stillWaits, to: sibling) }
      self.search(for: id, since: start)
    }
  }

  private func end(_ id: String, _ result: Result<JSONValue, ResponseError>?) {
    guard let waiter = waiting.removeValue(forKey: id) else { return }
    waiter.timer?.cancel()
    waiter.reply.resume(returning: result)
  }

  private func request(_ fields: [String: CBOR], from sibling: PeerId) {
    if fields["again"] != nil { return stillWaits(fields, sibling) }
    guard repo.siblings.contains(sibling), let id = fields["request"]?.text, let method = fields["method"]?.text,
      let bytes = fields["params"]?.bytes
    else { return }
    guard sharing.hasNetwork, let performer else {
      origins.append(Passed(id: id, peer: sibling, fields: fields, since: clock.now))
      if origins.count > Self.maximumPassedOn { origins.removeFirst() }
      return pass(fields, Self.requestType, except: sibling)
    }
    carryOut(method, bytes, id, for: sibling, performer)
  }

  /// The sender of a request that no process has accepted says that it still waits.
  private func stillWaits(_ fields: [String: CBOR], _ sibling: PeerId) {
    guard let index = origins.firstIndex(where: { $0.id == fields["request"]?.text }) else { return }
    origins[index].since = clock.now
    pass(fields, Self.requestType, except: sibling)
  }

  /// Call when this process has taken over the network: carries out the requests that no process could carry out
  /// before.
  func networkArrived() {
    guard sharing.hasNetwork else { return }
    // A sender reports every second that it waits.
    let open = origins.filter { !$0.isTaken && clock.now - $0.since < Self.maximumSearch * 2 }
    origins.removeAll { !$0.isTaken }
    for request in open { self.request(request.fields, from: request.peer) }
  }

  private func carryOut(
    _ method: String, _ bytes: Data, _ id: String, for sibling: PeerId, _ performer: any SiblingRequestPerforming
  ) {
    repo.send(type: Self.answerType, fields: ["request": .text(id), "taken": true], to: sibling)
    guard let params = try? JSONValue(parsing: Array(bytes)) else { return }
    Task { @AutomergeRepo in
      var answer: [String: CBOR] = ["request": .text(id)]
      switch await performer.performForSibling(method, params) {
      case .success(let result): answer["result"] = .bytes(Data(result.encoded()))
      case .failure(let error):
        answer["code"] = .integer(error.code.rawValue)
        answer["message"] = .text(String(error.message.prefix(1000)))
        answer["data"] = error.data.map { .bytes(Data($0.encoded())) }
      }
      repo.send(type: Self.answerType, fields: answer, to: sibling)
    }
  }

  private func pass(_ fields: [String: CBOR], _ type: String, except sender: PeerId) {
    for sibling in repo.siblings where sibling != sender { repo.send(type: type, fields: fields, to: sibling) }
  }

  private func answer(_ fields: [String: CBOR], from sibling: PeerId) {
    guard repo.siblings.contains(sibling), let id = fields["request"]?.text else { return }
    guard let waiter = waiting[id] else {
      if let index = origins.firstIndex(where: { $0.id == id }) {
        repo.send(type: Self.answerType, fields: fields, to: origins[index].peer)
        if fields["taken"] == nil { origins.remove(at: index) } else { origins[index].isTaken = true }
      }
      return
    }
    if fields["taken"]?.bool ?? false {
      waiter.timer?.cancel()
      waiter.timer = clock.schedule(after: Self.maximumWait) { [weak self] in
        self?.end(id, .failure(NotesError(.timedOut, "The process with the network did not answer; retry.").response))
      }
    } else if let bytes = fields["result"]?.bytes, let result = try? JSONValue(parsing: Array(bytes)) {
      end(id, .success(result))
    } else {
      let data = fields["data"]?.bytes.flatMap { try? JSONValue(parsing: Array($0)) }
      let code = ErrorCode(rawValue: fields["code"]?.integer ?? ErrorCode.internalError.rawValue)
      end(id, .failure(ResponseError(code: code, message: fields["message"]?.text ?? "Request failed.", data: data)))
    }
  }
}
