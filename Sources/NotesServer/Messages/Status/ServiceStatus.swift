import AutomergeRepo
import JSONRPC

/// The state of the whole service.
struct ServiceStatus {
  /// Whether every document is stored.
  var isStored: Bool
  /// Why a document is not stored, if the store has failed.
  let storageProblem: String?
  let network: String
  let discovery: String
  /// How many documents are in memory.
  let documentCount: Int
  /// How long the last commits took.
  let commitTimes: [Duration]
  /// How many messages were sent to peers.
  let sentCount: Int

  @AutomergeRepo
  init(_ service: Service) {
    isStored = service.repo.handles.allSatisfy(\.isStored)
    storageProblem = service.repo.handles.lazy.compactMap(\.storageProblem).first?.words
    (network, discovery) = (service.sharing.networkState, service.sharing.discoveryState)
    documentCount = service.repo.handles.count
    commitTimes = service.repo.commitTimes
    sentCount = service.sharing.sentCount
  }

  var json: JSONValue {
    .object(present: [
      "stored": .bool(isStored), "problem": storageProblem.map(JSONValue.string), "network": .string(network),
      "discovery": .string(discovery), "peers": [], "documents": JSONValue(documentCount), "commits": commits,
      "sent": JSONValue(sentCount),
    ])
  }

  /// In milliseconds.
  private var commits: JSONValue {
    let times = commitTimes.sorted()
    guard !times.isEmpty else { return nil }
    func milliseconds(_ part: Double) -> JSONValue {
      JSONValue(times[min(times.count - 1, Int(Double(times.count) * part))] / .milliseconds(1))
    }
    return ["count": JSONValue(times.count), "p50": milliseconds(0.5), "p99": milliseconds(0.99)]
  }
}
