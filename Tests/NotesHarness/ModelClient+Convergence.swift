import TestSupport

extension ModelClient {
  /// Waits until the buffers are equal and, if they are `checked`, each service has proved that it knows its buffer.
  /// A service proves it only after edits.
  public static func waitForConvergence(
    _ clients: [ModelClient], checked: Bool = true, within duration: Duration = Patience.hang
  ) throws {
    for client in clients {
      client.isUnsafe = false
      client.flush()
    }
    try NotesProcess.wait(for: "equal buffers", of: clients.map(\.process), within: duration) {
      guard let first = clients.first else { return true }
      return clients.allSatisfy { (checked ? $0.isChecked : $0.isSynced) && $0.text.bytes == first.text.bytes }
    }
  }
}
