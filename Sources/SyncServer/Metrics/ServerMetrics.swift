import AutomergeRepo

/// The metrics that a server shows its operator, read from the repo and the networks at each request.
@AutomergeRepo
public final class ServerMetrics {
  private let repo: Repo
  /// The networks by their names, such as `websocket`.
  private let networks: [(name: String, provider: MeteredProvider)]
  private let loop: LoopDelay

  public init(repo: Repo, networks: [(name: String, provider: MeteredProvider)], loop: LoopDelay) {
    (self.repo, self.networks, self.loop) = (repo, networks, loop)
  }

  /// - Complexity: O(n) in the documents in memory
  public var page: String {
    var page = MetricsText()
    page.gauge(
      "notes_connections", "Connected peers.", by: "network",
      networks.map { ($0.name, $0.provider.connectionCount) })
    page.gauge("notes_documents_open", "Documents in memory.", Double(repo.handles.count))
    traffic(&page)
    page.histogram("notes_store_seconds", "How long it took to store the changes of a document.", repo.commitLatency)
    page.gauge(
      "notes_stored_lag_seconds", "How long the oldest unstored change has waited.",
      repo.storedLag / .seconds(1))
    page.histogram("notes_loop_delay_seconds", "How late the event loop ran due work.", loop.delays)
    if let memory = ProcessMemory.residentByteCount {
      page.gauge("process_resident_memory_bytes", "Resident memory.", Double(memory))
    }
    return page.text
  }

  private func traffic(_ page: inout MetricsText) {
    let (received, sent) = (networks.map(\.provider.received), networks.map(\.provider.sent))
    func both(_ count: KeyPath<MeteredProvider.Traffic, Int>) -> [(String, Int)] {
      func sum(_ traffic: [MeteredProvider.Traffic]) -> Int { traffic.reduce(0) { $0 + $1[keyPath: count] } }
      return [("in", sum(received)), ("out", sum(sent))]
    }
    page.counter("notes_messages_total", "Messages from peers and to peers.", by: "direction", both(\.messageCount))
    page.counter("notes_bytes_total", "Bytes of sync and ephemeral messages.", by: "direction", both(\.byteCount))
    page.counter("notes_changes_total", "Changes in sync messages.", by: "direction", both(\.changeCount))
  }
}
