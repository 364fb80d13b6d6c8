import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/share`: makes a ticket with which another person joins a note.
struct ShareRequest: SharedNoteRequest {
  static let method = "notes/share"
  static let adoptsFiles = true

  private static let maximumExpiry = 1 << 40

  let note: NoteReference
  private let access: Access
  /// How many people may join with the ticket.
  private let uses: Int
  private let expiresIn: Duration?
  /// What the person typed, which counts before the three above.
  private let options: String
  /// Whether the ticket is also wanted as a QR code.
  let wantsQR: Bool
  /// The width of the screen, if lines are wanted.
  let width: Int?

  init(_ params: Parameters) throws(ResponseError) {
    access = try params.grantedAccess("access")
    options = try params.stringIfPresent("options") ?? ""
    width = try params.widthIfPresent()
    wantsQR = try params.boolIfPresent("qr") ?? false
    uses = try params.nonNegativeIntIfPresent("uses") ?? 1
    guard uses > 0 else { throw params.invalid("uses", "must be at least 1") }
    expiresIn = try params.nonNegativeIntIfPresent("expiresIn").map { .seconds(min($0, Self.maximumExpiry)) }
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let options = try ShareOptions(options)
    let (access, uses) = (options.access ?? access, options.uses ?? uses)
    let record = try await editor.noteOrAdopted(note)
    // A note that is only in memory is not shared, because the ticket outlives this process.
    _ = try await service.fetch(record.id)
    let ticket = try await service.sharing.share(
      record.id, access: service.sharing.grantable(access, to: record.id), uses: uses,
      expiresIn: options.expiresIn ?? expiresIn)
    let whole = service.notebook[record.id]
    let meeting = whole?.folder == nil ? nil : whole?.title
    let screen = width.map {
      TicketScreen(
        ticket, access, uses: uses, meeting: meeting, width: $0, ScreenTime(now: service.clock.date))
    }
    return Result(
      id: record.id, ticket: ticket, access: access, uses: uses, qr: wantsQR ? QRCode(ticket.text) : nil, screen: screen
    )
  }

  struct Result: RequestResult {
    let id: DocumentId
    let ticket: SharedTicket
    let access: Access
    let uses: Int
    let qr: QRCode?
    let screen: TicketScreen?

    var json: JSONValue {
      .object(present: [
        "id": .string(id.description), "ticket": .string(ticket.text), "words": .string(ticket.words),
        "expires": ticket.expires.map { JSONValue($0) } ?? .null, "access": .string(access.rawValue),
        "uses": JSONValue(uses), "qr": qr.map { JSONValue($0.lines) },
        "lines": screen.map { JSONValue($0.lines) },
        "base64": screen.map { _ in .string(Data(ticket.text.utf8).base64EncodedString()) },
      ])
    }
  }
}
