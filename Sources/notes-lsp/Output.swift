import Foundation
import JSONRPC
import NotesServer

/// What commands print. Titles, names and texts come from other people: on a terminal, characters that would control it or
/// reorder its text are printed as their numbers. Pipes and files get the bytes unchanged.
enum Output {
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// The width of the terminal in columns; 80 if there is none.
  static var width: Int {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// A title or a name as part of a line: line breaks in it are never printed as such.
  static func field(_ text: String, onTerminal: Bool = isTerminal) -> String {
    TerminalText.field(text, onTerminal: onTerminal)
  }

  /// A text of several lines.
  static func text(_ text: String, onTerminal: Bool = isTerminal) -> String {
    onTerminal ? TerminalText.text(text) : text
  }

  /// One line of JSON.
  static func json(_ value: JSONValue, onTerminal: Bool = isTerminal) -> String {
    onTerminal ? TerminalText.json(value) : "\(value)"
  }

  /// JSON that is already text.
  static func json(text: String, onTerminal: Bool = isTerminal) -> String {
    onTerminal ? TerminalText.json(text: text) : text
  }

  static func print(json value: JSONValue) { write(json(value) + "\n") }

  static func print<Value: Encodable>(json value: Value) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    print(json: try JSONValue(parsing: Array(try encoder.encode(value))))
  }

  /// A line that is fit for a terminal already.
  static func print(line: String) { write(line + "\n") }

  /// Fields of a line, separated by two blanks.
  static func print(fields: String?...) {
    print(line: fields.compactMap { $0.map { field($0) } }.joined(separator: "  "))
  }

  /// A message to the person that is not part of the result: goes to standard error.
  static func note(_ message: String) {
    let line = field(message, onTerminal: isatty(STDERR_FILENO) == 1)
    writeError(line + "\n")
  }

  // MARK: Writing

  /// Writes to standard output. If that fails, the command has failed: says so and exits.
  static func write(_ text: String) { write(Data(text.utf8)) }

  static func write(_ bytes: Data) {
    guard let code = write(bytes, to: STDOUT_FILENO) else { return }
    // A reader that has seen enough, as head, needs no message.
    if code != EPIPE { note("notes-lsp: The output cannot be written: \(String(cString: strerror(code))).") }
    exit(1)
  }

  /// Writes to standard error, if that is possible.
  static func writeError(_ text: String) { _ = write(Data(text.utf8), to: STDERR_FILENO) }

  /// Returns the error's number if not everything could be written.
  private static func write(_ bytes: Data, to descriptor: Int32) -> Int32? {
    var bytes = bytes
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        bytes = bytes.dropFirst(count)
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&waiting, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }

  /// Opens what the caller has closed of the three standard descriptors, so that no file of the store gets such a number and
  /// is written to by a message. Writing to standard output still fails.
  static func occupyStandardDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      // The lowest free number is the descriptor's.
      _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}

/// "1 change", "2 changes".
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
