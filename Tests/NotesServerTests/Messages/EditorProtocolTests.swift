import AutomergeRepo
import Foundation
import Testing

@testable import NotesServer

/// Checks the tables of EditorProtocol.md against the list of messages.
@AutomergeRepo
struct EditorProtocolTests {
  private let page: ProtocolPage

  init() throws { page = try ProtocolPage() }

  private func methods(_ isMeant: (EditorProtocol.Order) -> Bool) -> Set<String> {
    Set(EditorProtocol.messages.filter(isMeant).map(\.method))
  }

  @Test func everyRequestIsInTheTableOfRequests() {
    let requests = methods { order in
      switch order {
      case .concurrent, .network, .shared, .withUndo: true
      case .first, .last, .exit, .inTurn, .inBuffer: false
      }
    }
    #expect(page.requests == requests)
  }

  @Test func everyNotificationIsInATableWithAnArrow() {
    let notifications = methods { order in
      switch order {
      case .inTurn, .inBuffer: true
      case .first, .last, .exit, .concurrent, .network, .shared, .withUndo: false
      }
    }
    #expect(page.notifications == notifications)
  }

  /// The service writes it without intermediate values, because it sends one for every letter that other people type.
  @Test func anEditIsWrittenAsItsParametersAre() throws {
    func edit(_ edits: [BufferEdit.Replacement], _ cause: EditCause) -> EditNotification {
      EditNotification(
        uri: "file:///tmp/\"a\".md", edit: BufferEdit(version: 7, rev: 1 << 40, edits: edits, bytes: 0, cause: cause))
    }
    let start = Position(line: 3, character: 0), end = Position(line: 1_000_000, character: 80)
    let replacements = ["", "x", "\n", "a \"b\" \\ \t\u{1}é😀"].map { text in
      BufferEdit.Replacement(range: PositionRange(start: start, end: end), newText: Array(text.utf8))
    }
    for notification in [edit([], .undo), edit(Array(replacements[1...1]), .remote), edit(replacements, .reload)] {
      #expect(notification.encoded == notification.params.encoded())
    }
  }

  @Test func whatWeSendIsInATableWithAnArrow() {
    #expect(page.sent == Set(EditorProtocol.outgoing.map { $0.method }))
  }

  @Test func theTableOfTheOrderIsThatOfTheList() {
    let rows: [Set<String>] = [
      methods { if case .first = $0 { true } else { false } },
      methods { if case .inTurn = $0 { true } else { false } },
      methods { if case .inBuffer = $0 { true } else { false } },
      methods { if case .withUndo = $0 { true } else { false } },
      // All other requests.
      [],
      methods { if case .last = $0 { true } else { false } },
      methods { if case .exit = $0 { true } else { false } },
    ]
    #expect(page.order == rows)
  }

  @Test func noMethodIsInTheListTwice() {
    #expect(EditorProtocol.messages.count == Set(EditorProtocol.messages.map(\.method)).count)
  }
}

/// The methods in the tables of EditorProtocol.md.
private struct ProtocolPage {
  private let lines: [Substring]

  init() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/Documentation/EditorProtocol.md")
    lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
  }

  /// In the first column under "Requests".
  var requests: Set<String> {
    Set(rows(of: "Requests").flatMap { Self.quoted($0[0]) })
  }

  /// The notifications of a client, in tables with an arrow in the first column.
  var notifications: Set<String> { methods(after: "→") }

  /// The messages of the service.
  var sent: Set<String> { methods(after: "←") }

  private func methods(after arrow: String) -> Set<String> {
    Set(rows(lines).filter { $0[0] == arrow }.flatMap { Self.quoted($0[1]) })
  }

  /// The second column under "Order", row by row.
  var order: [Set<String>] { rows(of: "Order").map { Set(Self.quoted($0[1])) } }

  private func rows(of section: String) -> [[String]] {
    let start = lines.firstIndex { $0 == "## \(section)" } ?? lines.endIndex
    let rest = lines[start...].dropFirst()
    return rows(rest[..<(rest.firstIndex { $0.hasPrefix("## ") } ?? rest.endIndex)])
  }

  /// The cells of the rows, without the heads of the tables.
  private func rows(_ lines: some Collection<Substring>) -> [[String]] {
    var rows: [[String]] = []
    for line in lines where line.hasPrefix("|") {
      if line.hasPrefix("|---") { rows.removeLast() } else { rows.append(Self.cells(line)) }
    }
    return rows
  }

  private static func cells(_ row: Substring) -> [String] {
    row.dropFirst().split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private static func quoted(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
      index % 2 == 1 ? String(part) : nil
    }
  }
}
