/// Decides which of LSP's progress messages a plain client gets about work that takes a while.
///
/// Each buffer has at most one piece of work:
///
///     none ──it begins──► begun ──it lasts; the client is asked──► asked ──the client accepts──► shown
///      ▲                    │                                        │                             │
///      └────────────────────┴────────── it is done ──────────────────┴── it is done: end ──────────┘
///
/// A client that refuses, or does not answer, is not asked again. Peers decide how much work there is and how often it
/// begins, so there is a limit on all messages together.
struct WorkProgress {
  /// The work on a buffer.
  struct Work: Hashable {
    enum Kind: Hashable { case opening, receiving }

    let kind: Kind
    let title: String
    /// The people whose changes arrive, or the peer or store for which the opening waits.
    let message: String?
    /// Nil while it is unknown; a client may then ignore later percentages.
    let percent: Int?

    /// Whether another state belongs to the same piece of work: only message and percentage may differ.
    func isSamePiece(as other: Work) -> Bool { kind == other.kind && title == other.title }
  }

  enum Event: Hashable {
    /// The present work on a buffer; nil if there is none.
    case work(Work?, of: String)
    /// The client's answer to the latest `create`.
    case answered(isAccepted: Bool)
    /// The time of `nextTime` has come.
    case timePassed
    /// Nothing more may be shown.
    case ended
  }

  enum Message: Hashable {
    case create(token: String)
    case begin(token: String, Work)
    case report(token: String, Work)
    case end(token: String)
  }

  /// The shortest time between two messages. An end, and a begin that an answer of the client causes, may come sooner.
  static let interval: Duration = .milliseconds(200)
  /// How long receiving must last before it is shown: each edit of a person who types takes a moment to arrive.
  static let patience: Duration = .milliseconds(500)

  private struct Piece {
    enum Stage {
      case begun
      case asked(token: String)
      case shown(token: String, told: Work)
    }

    var work: Work
    var stage = Stage.begun
    /// When its next message may be sent; the piece whose turn came first goes first.
    var turn: Duration
  }

  /// By the buffers' URIs.
  private var pieces: [String: Piece] = [:]
  /// The buffer of the `create` that has no answer.
  private var asked: (uri: String, token: String)?
  private var count = 0
  private var nextMessage: Duration?
  private var isOver = false

  /// The buffers on which there is work.
  var uris: [String] { pieces.keys.sorted() }
  var isIdle: Bool { pieces.isEmpty }

  /// When `timePassed` is due; nil if nothing waits for it.
  var nextTime: Duration? {
    guard let turn = next?.turn else { return nil }
    return max(turn, nextMessage ?? turn)
  }

  mutating func receive(_ event: Event, at now: Duration) -> [Message] {
    guard !isOver else { return [] }
    switch event {
    case .work(let work, let uri): return change(to: work, of: uri, at: now) + told(at: now)
    case .answered(let isAccepted): return answered(isAccepted, at: now) + told(at: now)
    case .timePassed: return told(at: now)
    case .ended:
      isOver = true
      asked = nil
      return uris.flatMap { end(of: $0) }
    }
  }

  private mutating func change(to work: Work?, of uri: String, at now: Duration) -> [Message] {
    guard let work else { return end(of: uri) }
    guard let piece = pieces[uri], piece.work.isSamePiece(as: work) else {
      let ends = end(of: uri)
      // The caller reports an opening only once it has taken a while.
      pieces[uri] = Piece(work: work, turn: now + (work.kind == .opening ? .zero : Self.patience))
      return ends
    }
    pieces[uri]?.work = piece.work.followed(by: work)
    return []
  }

  private mutating func end(of uri: String) -> [Message] {
    guard case .shown(let token, _)? = pieces.removeValue(forKey: uri)?.stage else { return [] }
    return [.end(token: token)]
  }

  private mutating func answered(_ isAccepted: Bool, at now: Duration) -> [Message] {
    guard let (uri, token) = asked else { return [] }
    asked = nil
    guard isAccepted else { return receive(.ended, at: now) }
    // That work may have ended by now, and other work may have begun.
    guard let piece = pieces[uri], case .asked(token: token) = piece.stage else { return [] }
    pieces[uri]?.stage = .shown(token: token, told: piece.work)
    pieces[uri]?.turn = now + Self.interval
    return [.begin(token: token, piece.work)]
  }

  /// The piece whose message is next.
  private var next: (uri: String, turn: Duration)? {
    let due = pieces.filter { _, piece in
      switch piece.stage {
      case .begun: asked == nil
      case .asked: false
      case .shown(_, let told): told != piece.work
      }
    }
    return due.min { ($0.value.turn, $0.key) < ($1.value.turn, $1.key) }.map { ($0.key, $0.value.turn) }
  }

  private mutating func told(at now: Duration) -> [Message] {
    guard let (uri, turn) = next, let piece = pieces[uri], max(turn, nextMessage ?? turn) <= now else { return [] }
    nextMessage = now + Self.interval
    switch piece.stage {
    case .begun:
      count += 1
      let token = "notes-lsp-\(count)"
      asked = (uri, token)
      pieces[uri]?.stage = .asked(token: token)
      return [.create(token: token)]
    case .asked: return []
    case .shown(let token, _):
      pieces[uri]?.stage = .shown(token: token, told: piece.work)
      pieces[uri]?.turn = now + Self.interval
      return [.report(token: token, piece.work)]
    }
  }
}

extension WorkProgress.Work {
  /// More people than this are counted.
  private static let maximumNames = 3
  private static let (maximumTitleLength, maximumNameLength) = (40, 16)

  private static func quoted(_ title: String) -> String {
    "\"\(NoteNews.cut(OneLine.shown(title), to: maximumTitleLength))\""
  }

  static func opening(_ title: String, waitsFor source: String?) -> Self {
    Self(
      kind: .opening, title: "Opening " + quoted(title), message: source.map { "waiting for " + OneLine.shown($0) },
      percent: nil)
  }

  /// Nil if no person's changes are arriving.
  static func receiving(_ title: String, from people: [PersonStatus]) -> Self? {
    let senders = people.filter { $0.percentReceived != nil }
    // The smallest counts, because everything has to arrive. 0 may also mean that a person has not reported how much
    // there is.
    guard let percent = senders.compactMap(\.percentReceived).min() else { return nil }
    let names = Set(senders.map { DisplayWidth.cut(OneLine.shown($0.person.name), to: maximumNameLength) })
    let shown = names.count > maximumNames ? "\(names.count) people" : names.sorted().joined(separator: ", ")
    return Self(
      kind: .receiving, title: "Receiving " + quoted(title), message: "from " + shown,
      percent: percent > 0 ? percent : nil)
  }

  /// A later state. As LSP demands, the percentage does not fall, even if a peer has more changes by now.
  fileprivate func followed(by later: Self) -> Self {
    let percents = [percent, later.percent].compactMap(\.self)
    return Self(kind: kind, title: title, message: later.message, percent: percents.max())
  }
}
