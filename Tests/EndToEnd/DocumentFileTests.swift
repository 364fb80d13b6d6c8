import Foundation
import NotesHarness
import TestSupport
import Testing

/// The commands that inspect files.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct DocumentFileTests {}

extension DocumentFileTests {
  /// A change that makes a text of two characters, and a second change that deletes the first character, as the
  /// reference implementation writes them.
  private static let changes = [
    "856f4a83c3852f3c01480001aa010105016d000a01040204110413051507340242055605570470020002020000020202"
      + "00037f0000027e00037e016b0174000202027e010402017e26000216686961620400",
    "856f4a83c5b11e48015001c3852f3cd2fa6a618d33e8d579b2d609101a6aaf689488e96e40cc19bd3dfbaa01aa020500"
      + "00000a01020202110213023401420256027002710273027f007f027f007f03017f037f007f017f007f03",
  ]

  private func run(_ arguments: String...) throws -> (code: ChildProcess.Exit, output: String, errors: String) {
    let binary = try #require(NotesBinary.path)
    let result = try ChildProcess.run([binary] + arguments)
    return (
      result.exit, String(decoding: result.output, as: UTF8.self), String(decoding: result.errorOutput, as: UTF8.self)
    )
  }

  private func file(_ name: String, _ bytes: [UInt8], in directory: TemporaryDirectory) throws -> String {
    let path = directory.file(name)
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  private func change(_ index: Int) throws -> [UInt8] { try #require(Hex.bytes(Self.changes[index])) }

  @Test func aFileIsDumpedAsJSON() throws {
    let directory = try TemporaryDirectory()
    let path = try file("a.automerge", change(0) + change(1), in: directory)
    let dumped = try run("dump", path)
    #expect(dumped.code == .code(0) && dumped.errors.isEmpty)
    let json = try JSON.parse(Data(dumped.output.utf8))
    #expect(json["texts"]["/t"].string == "b")
    #expect(json["value"]["v"]["k"]["v"].string == "hi")
    #expect(json["changes"].items.map { $0["raw"].string } == Self.changes)
    let brief = try run("dump", "--no-changes", "--compact", path)
    #expect(brief.output.filter { $0 == "\n" }.count == 1)
    #expect(try JSON.parse(Data(brief.output.utf8))["changes"].isNull)
    let missing = try run("dump", directory.file("none"))
    #expect(missing.code == .code(1) && missing.output.isEmpty)
    #expect(try run("dump").code == .code(2))
  }

  @Test func aFileOfAnotherProgramIsOpenedInPlace() throws {
    let directory = try TemporaryDirectory()
    let path = try file("a.automerge", change(0) + change(1), in: directory)
    let places = ["--home", directory.file("home"), "--notes", directory.file("Notes")]
    func open(_ name: String) throws -> (code: ChildProcess.Exit, output: String, errors: String) {
      try run("open", name, places[0], places[1], places[2], places[3])
    }
    let opened = try open(path)
    #expect(opened.code == .code(0), "\(opened.errors)")
    let note = try #require(opened.output.split(separator: "\n").first.map(String.init))
    #expect(try String(contentsOfFile: note, encoding: .utf8).hasPrefix("b"))
    #expect(try open(path).output == opened.output)
    // A missing file is not made.
    #expect(try open(directory.file("none.automerge")).code == .code(1))
  }

  @Test func damageIsFoundAndPlaced() throws {
    let directory = try TemporaryDirectory()
    let good = try file("good", change(0) + change(1), in: directory)
    let bad = try file("bad", change(0) + change(1).dropLast(), in: directory)
    #expect(try run("validate", good).code == .code(0))
    let verdict = try run("validate", "--json", good, bad)
    #expect(verdict.code == .code(1) && verdict.errors.contains(bad) && !verdict.errors.contains(good))
    let json = try lines(verdict.output)
    #expect(json.map { $0["ok"].bool } == [true, false])
    #expect(json[1]["changes"].int == 1)
    let first = try change(0)
    #expect(json[1]["chunks"].items.map { $0["offset"].int } == [0, first.count])
    #expect(
      try run("validate", good, bad).output == """
        \(good): good, 2 changes
        \(bad): damaged at byte \(first.count): the data ends too early; 1 change can be used

        """)
    #expect(try run("validate").code == .code(2))
  }

  @Test(arguments: ["", "hi\n", "# Shopping\n\nmilk, olives\n"]) func aFileOfAnotherKindIsNoDocument(text: String)
    throws
  {
    let directory = try TemporaryDirectory()
    let path = try file("Shopping.md", Array(text.utf8), in: directory)
    let verdict = try run("validate", path)
    #expect(verdict.code == .code(1))
    #expect(verdict.output == "\(path): not an Automerge document\(text.isEmpty ? ": it is empty" : "")\n")
    #expect(verdict.errors == "notes-lsp: Not Automerge documents: \(path).\n")
    #expect(try lines(try run("validate", "--json", path).output).map { $0["ok"].bool } == [false])
    // A document whose beginning is damaged is none of another kind.
    let damaged = try file("damaged", [0] + change(0).dropFirst() + change(0), in: directory)
    #expect(try run("validate", damaged).output.contains("damaged at byte 0: "))
  }

  @Test func aFileThatIsMissingDoesNotHideTheOthers() throws {
    let directory = try TemporaryDirectory()
    let good = try file("good", change(0) + change(1), in: directory)
    let missing = directory.file("missing")
    let verdict = try run("validate", good, missing, good)
    #expect(verdict.code == .code(1))
    #expect(verdict.output.components(separatedBy: "good, 2 changes").count == 3, "\(verdict)")
    #expect(verdict.output.contains("\(missing) cannot be read"), "\(verdict)")
    let json = try lines(try run("--json", "validate", good, missing).output)
    #expect(json.map { $0["ok"].bool } == [true, false])
  }

  @Test func mergedMeetingNotesKeepTheirIdAndStrangersAreRefused() throws {
    let ana = try NotesUser("Ana")
    _ = try ana.run(["new", "Shopping"])
    let (path, bare) = (ana.directory.file("a.meetingnotes"), ana.directory.file("a.automerge"))
    for file in [path, bare] { #expect(try ana.run(["export", "Shopping", file]).exit == .code(0)) }
    let output = ana.directory.file("c.meetingnotes")
    #expect(try run("join-files", bare, path, "-o", output).code == .code(0))
    // Its id is still that of the note.
    let again = try ana.run(["import", output, "--json"])
    #expect(String(again.output).contains("\"known\":true"), "\(again)")
    #expect(try Data(contentsOf: URL(filePath: output)) == Data(contentsOf: URL(filePath: path)))
    #expect(try run("join-files", bare, bare, "-o", ana.directory.file("d.meetingnotes")).code == .code(1))
    let ben = try NotesUser("Ben")
    _ = try ben.run(["new", "Shopping"])
    let (other, otherBare) = (ben.directory.file("b.meetingnotes"), ben.directory.file("b.automerge"))
    for file in [other, otherBare] { #expect(try ben.run(["export", "Shopping", file]).exit == .code(0)) }
    for (first, second) in [(path, other), (bare, otherBare), (path, otherBare)] {
      let refused = try run("join-files", first, second, "-o", ana.directory.file("e.automerge"))
      #expect(refused.code == .code(1) && refused.errors.contains("nothing was merged"), "\(refused)")
    }
    #expect(!FileManager.default.fileExists(atPath: ana.directory.file("e.automerge")))
  }

  /// One JSON object a line.
  private func lines(_ output: String) throws -> [JSON] {
    try output.split(separator: "\n").map { try JSON.parse(Data($0.utf8)) }
  }

  @Test func aFileOfMeetingNotesIsLookedInto() throws {
    let ana = try NotesUser("Ana")
    _ = try ana.run(["new", "Shopping"])
    let path = ana.directory.file("a.meetingnotes")
    #expect(try ana.run(["export", "Shopping", path]).exit == .code(0))
    #expect(try run("validate", path).output == "\(path): good, 1 change\n")
    #expect(try JSON.parse(Data(try run("dump", path).output.utf8))["texts"]["/title"].string == "Shopping")
    var bytes = try Data(contentsOf: URL(filePath: path))
    let start = try #require(bytes.range(of: Data([0x85, 0x6F, 0x4A, 0x83]))?.lowerBound)
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(filePath: path))
    let verdict = try run("validate", path)
    #expect(verdict.code == .code(1) && verdict.output.contains("damaged at byte \(start): the checksum is wrong"))
  }

  @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
  func whatWasReadAndNotTakenIsSaid() throws {
    let folder = try #require(Vectors.shared).appending(path: "vectors/negative")
    let twice = try run("validate", folder.appending(path: "ch_two_same_seq.bin").path)
    #expect(twice.code == .code(1))
    #expect(
      twice.output.contains("was not taken: change") && twice.output.contains("has made another change here"),
      "\(twice)")
    let repeated = try run("validate", folder.appending(path: "ch_deps_dup.bin").path)
    #expect(repeated.code == .code(1) && repeated.output.contains("names a change twice"), "\(repeated)")
    // Every fault has a message.
    let files = try Vectors.inputs(of: "negative").map { folder.appending(path: $0.name).path }
    let binary = try #require(NotesBinary.path)
    let all = try ChildProcess.run([binary, "validate"] + files)
    let text = String(decoding: all.output + all.errorOutput, as: UTF8.self)
    for word in ["FormatError", "LoadError", "format(", "inconsistent(", "Optional("] { #expect(!text.contains(word)) }
    #expect(text.contains("can be used"))
  }

  @Test func copiesBecomeOneFile() throws {
    let directory = try TemporaryDirectory()
    let short = try file("short", change(0), in: directory)
    let long = try file("long", change(0) + change(1), in: directory)
    let output = directory.file("joined")
    let joined = try run("join-files", short, long, "-o", output, "--json")
    #expect(joined.code == .code(0), "\(joined.errors)")
    let json = try JSON.parse(Data(try run("dump", output).output.utf8))
    #expect(json["texts"]["/t"].string == "b")
    #expect(try JSON.parse(Data(joined.output.utf8))["heads"] == json["heads"])
    // An existing file is replaced only on request.
    #expect(try run("join-files", short, long, "-o", output).code == .code(1))
    #expect(try run("join-files", short, long, "-o", output, "--force").code == .code(0))
    #expect(try run("join-files", short, "-o", output).code == .code(2))
  }

  /// The memory that a process may use while it reads the odd files: far less than it would need if it believed them.
  private static let dataKibibytes = 160 << 10

  @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
  func oddFilesAreJudgedInLittleMemory() throws {
    let folder = try #require(Vectors.shared).appending(path: "vectors/negative")
    let files = try Vectors.inputs(of: "negative").map { folder.appending(path: $0.name).path }
    let binary = try #require(NotesBinary.path)
    let script = "ulimit -d \(Self.dataKibibytes); exec \"$@\""
    let result = try ChildProcess.run(["bash", "-c", script, "bash", binary, "validate", "--json"] + files)
    #expect(result.exit == .code(1), "\(String(decoding: result.errorOutput, as: UTF8.self))")
    let json = try lines(String(decoding: result.output, as: UTF8.self))
    #expect(json.count == files.count)
    #expect(json.contains { $0["ok"].bool == true } && json.contains { $0["ok"].bool == false })
  }
}
