import AutomergeRepo
import Foundation
import NotesServer
import PeerNetwork
import PeerTransport
import SQLiteStorage
import UV

/// The checks of `doctor`, in the order in which a connection to a peer depends on them.
@AutomergeRepo
final class Diagnostics {
  struct Finding: Encodable, Sendable {
    var subject: String
    var isGood: Bool
    var text: String
    /// What to do about it.
    var advice: String?
  }

  private(set) var findings: [Finding] = []
  private let home: String
  private let notes: String
  private let loop: Loop
  private let clock: LoopClock
  private var discovery: MulticastDiscovery?

  /// - Parameters:
  ///   - home: the folder of the store
  ///   - notes: the folder of the notes as text files
  init(home: String, notes: String, loop: Loop) {
    (self.home, self.notes, self.loop) = (home, notes, loop)
    clock = LoopClock(loop)
  }

  func run(done: @escaping @AutomergeRepo () -> Void) {
    good("version", "\(ProgramVersion.description), notes protocol 1, peer protocol 1")
    lookAtStore()
    _ = lookAtFolder("notes", notes, variable: "NOTES_DIR")
    lookAtClock()
    lookAtInterfaces()
    lookAtPort()
    lookAtFirewall()
    lookAtEditors()
    listen(done: done)
  }

  /// - Parameter advice: what to do if the person wants more than this
  func good(_ subject: String, _ text: String, _ advice: String? = nil) {
    findings.append(Finding(subject: subject, isGood: true, text: text, advice: advice))
  }

  func bad(_ subject: String, _ text: String, _ advice: String) {
    findings.append(Finding(subject: subject, isGood: false, text: text, advice: advice))
  }

  private func lookAtStore() {
    guard lookAtFolder("store", home, variable: "NOTES_HOME") else { return }
    lookAtDatabase()
    lookAtKey()
    let isServed = FileLock.network(of: home) == nil
    good("service", isServed ? "running" : "not running; it starts when you open a note in an editor")
  }

  private func lookAtDatabase() {
    switch StoreFileHeader(directory: home) {
    case .missing: good("database", "none yet; your first note makes it")
    case .ours: good("database", "notes.db is a notes-lsp store; notes-lsp fsck checks every byte")
    case .newer(let found, let known):
      bad("database", "notes.db is of version \(found); this notes-lsp knows \(known) and older", "Update notes-lsp.")
    case .foreign:
      bad("database", "notes.db belongs to another program", "Set NOTES_HOME to another folder.")
    case .damaged:
      bad(
        "database", "notes.db is damaged: it is not a database",
        "Put a backup back, or notes-lsp fsck --repair sets it aside and begins an empty store.")
    case .empty:
      bad(
        "database", "notes.db is empty: its bytes are lost",
        "Put a backup back, or notes-lsp fsck --repair sets it aside and begins an empty store.")
    case .unreadable(let code):
      bad("database", "notes.db cannot be read: \(String(cString: strerror(code)))", "Restore a readable notes.db.")
    }
    let all = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
    if let aside = all.filter({ $0.hasPrefix("damaged-") }).max() {
      bad(
        "damaged", "a damaged store was set aside: \(home)/\(aside)",
        "Missing notes? Their text is in \(notes); history only in a backup. If none is missing, remove the folder.")
    }
  }

  private func lookAtKey() {
    let path = home + "/identity.pem"
    guard FileManager.default.fileExists(atPath: path) else {
      return good("key", "none yet; your first note makes it")
    }
    do throws(IdentityError) {
      let identity = try IdentityFile(path: path).load()
      good("key", "peers know you as \(identity.peerId)")
    } catch {
      bad("key", "\(error)", "notes-lsp cannot start until this is fixed.")
    }
  }

  private func lookAtClock() {
    // No release of this program is older than that year. The clock only decides when tickets expire.
    let year = Calendar(identifier: .gregorian).component(.year, from: Date())
    if (2026...2100).contains(year) {
      good("clock", "the year is \(year)")
    } else {
      bad("clock", "the clock says \(year)", "Set the clock, or tickets expire at the wrong time.")
    }
  }

  private func lookAtInterfaces() {
    let external = NetworkInterface.all.filter { !$0.isInternal }
    if external.isEmpty {
      bad("network", "no network", "Connect to one. Until then only editors on this machine can share notes.")
    } else {
      good("network", external.map { "\($0.name) \($0.address.host)" }.joined(separator: ", "))
    }
  }

  private func lookAtPort() {
    do {
      let listener = try TCPListener(on: loop, host: "0.0.0.0", port: 0) { $0.close() }
      listener.close()
      good("port", "listening works; a router or firewall may still refuse others")
    } catch {
      bad("port", "others cannot connect: \(error.message)", "Allow notes-lsp to listen for connections.")
    }
  }

  private func lookAtFirewall() {
    let ufw = (try? String(contentsOfFile: "/etc/ufw/ufw.conf", encoding: .utf8))?.contains("ENABLED=yes") ?? false
    let firewalld = FileManager.default.fileExists(atPath: "/run/firewalld")
    guard ufw || firewalld else { return good("firewall", "none found") }
    let advice =
      ufw
      ? "If others cannot reach you: ufw allow 5353/udp, and a fixed port: --listen '*:7447', ufw allow 7447/tcp"
      : "If others cannot reach you: firewall-cmd --add-service=mdns, and a fixed port: --listen '*:7447', firewall-cmd --add-port=7447/tcp"
    // The firewall may let pass everything that is needed, so this is not a fault.
    good("firewall", "\(ufw ? "ufw" : "firewalld") is active", advice)
  }

  /// Looks for peers without announcing this one.
  private func listen(done: @escaping @AutomergeRepo () -> Void) {
    let announcement = Announcement(peer: Identity().peerId, name: "", port: 0)
    let discovery = MulticastDiscovery(loop: loop, clock: clock, announcement: announcement)
    self.discovery = discovery
    discovery.start()
    _ = clock.schedule(after: .seconds(2)) {
      let people = discovery.nearby.peers
      if let problem = discovery.problem {
        let hasNetwork = NetworkInterface.all.contains { !$0.isInternal }
        self.bad(
          "multicast", problem,
          hasNetwork
            ? "People nearby are not found. Share with a ticket: :NotesShare, M-x notes-share"
            : "No network: tickets won't work either")
      } else if people.isEmpty {
        self.good("nearby", "no one found. Some networks hide their guests from each other; tickets work there too")
      } else {
        self.good(
          "nearby",
          people.map { "\($0.name) at \($0.addresses.map(\.description).joined(separator: " "))" }
            .joined(separator: ", "))
      }
      discovery.stop()
      done()
    }
  }
}
