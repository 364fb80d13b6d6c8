/// Options that mean the same for every command may stand before its name: `notes-lsp --name Ana doctor`.
enum CommandLineOrder {
  private static let options: Set<String> = ["--home", "--notes", "--name"]
  private static let flags: Set<String> = ["--json"]
  /// Commands that read files, independent of any store.
  private static let fileCommands: Set<String> = ["dump", "validate", "join-files"]

  /// The arguments with the command's name first. Unchanged if it is first already, or if there is none.
  static func verbFirst(_ arguments: [String]) -> [String] {
    var index = 0
    while index < arguments.count, arguments[index].hasPrefix("--") {
      let argument = arguments[index]
      if flags.contains(argument) {
        index += 1
      } else if options.contains(argument) {
        index += 2
      } else if options.contains(where: { argument.hasPrefix($0 + "=") }) {
        index += 1
      } else {
        return arguments
      }
    }
    guard index > 0, index < arguments.count, !arguments[index].hasPrefix("-") else { return arguments }
    let verb = arguments[index], rest = arguments[(index + 1)...]
    let before = arguments[..<index]
    return [verb] + (fileCommands.contains(verb) ? before.filter(flags.contains) : Array(before)) + rest
  }
}

/// A first word that is not a command's name, most likely a typing error.
struct UnknownCommand: Error {
  let name: String
  /// The command that differs in one letter, or in two swapped ones.
  let nearest: String?

  /// Nil if `name` is one of `commands`, or an option.
  init?(_ name: String, commands: [String]) {
    guard !name.hasPrefix("-"), !commands.contains(name) else { return nil }
    self.name = name
    // A longer word is not a typing error, and comparing takes time quadratic in its length.
    let distances = name.utf8.count > 32 ? [] : commands.map { ($0.difference(from: name).count, $0) }
    nearest = distances.filter { $0.0 <= 2 }.min { $0 < $1 }?.1
  }

  var message: String {
    guard let nearest else { return "There is no command \"\(name)\"; notes-lsp --help lists them." }
    return "There is no command \"\(name)\"; did you mean \"\(nearest)\"?"
  }
}
