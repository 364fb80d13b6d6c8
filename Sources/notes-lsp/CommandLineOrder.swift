/// Options that mean the same for every command may stand before its name: `notes-lsp --name Ana doctor`.
enum CommandLineOrder {
  private static let options: Set<String> = ["--home", "--notes", "--name"]
  /// They look at files, whatever store there is.
  private static let fileCommands: Set<String> = ["dump", "validate", "join-files"]

  /// The arguments with the command's name first. Unchanged if it is first already, or if there is none.
  static func verbFirst(_ arguments: [String]) -> [String] {
    var index = 0
    while index < arguments.count, arguments[index].hasPrefix("--") {
      let argument = arguments[index]
      if options.contains(argument) {
        index += 2
      } else if options.contains(where: { argument.hasPrefix($0 + "=") }) {
        index += 1
      } else {
        return arguments
      }
    }
    guard index > 0, index < arguments.count, !arguments[index].hasPrefix("-") else { return arguments }
    let verb = arguments[index], rest = arguments[(index + 1)...]
    return [verb] + (fileCommands.contains(verb) ? [] : arguments[..<index]) + rest
  }
}
