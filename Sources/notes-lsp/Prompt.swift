import Foundation

/// Asks the person at the terminal while the loop continues to run.
enum Prompt {
  static let isPossible = isatty(STDIN_FILENO) == 1

  enum Reply { case yes, no, nothing }

  /// Asks until it understands the answer. An empty line, or the end of input, means no answer.
  static func ask(_ question: String) async -> Reply {
    while true {
      let answer = await line(after: Output.field(question) + " ")?.trimmingCharacters(in: .whitespaces).lowercased()
      switch answer {
      case nil, ""?: return .nothing
      case "y"?, "yes"?: return .yes
      case "n"?, "no"?: return .no
      case _?: Output.note("Please answer y or n.")
      }
    }
  }

  /// Reads on a thread of its own: a person takes time to answer.
  @concurrent
  private static func line(after prompt: String) async -> String? {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        Output.writeError(prompt)
        continuation.resume(returning: readLine())
      }
    }
  }
}
