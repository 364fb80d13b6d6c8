import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// From `initialize` to the end of the process, however it ends.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct LifecycleTests {}

extension LifecycleTests {
  @Test func initializeTellsWhoTheServerIs() throws {
    let process = try NotesUser("Ana").start()
    let result = try process.initialize(userName: "Ana", encodings: [.utf8])
    #expect(result["serverInfo"]?["name"] == "notes-lsp")
    #expect(result["serverInfo"]?["version"]?.stringValue != nil)
    let sync = result["capabilities"]?["textDocumentSync"]
    #expect(sync?["openClose"] == true)
    #expect(sync?["change"] == 2)
    #expect(sync?["save"] == true)
    let notes = result["capabilities"]?["experimental"]?["notes"]
    #expect(notes?["protocol"] == 1)
    #expect(notes?["peerId"]?.stringValue?.isEmpty == false)
    #expect(notes?["peerName"] == "Ana")
    #expect(try process.shutdown() == .code(0))
    #expect(process.garbage == [])
  }

  @Test(arguments: [
    (#"["utf-8", "utf-32", "utf-16"]"#, "utf-8"), (#"["utf-32", "utf-8"]"#, "utf-32"), (#"["utf-16"]"#, "utf-16"),
    (#"["utf-7"]"#, "utf-16"), (#"[]"#, "utf-16"), ("null", "utf-16"),
  ])
  func thePositionEncodingIsTheFirstThatBothKnow(offered: String, chosen: String) throws {
    let process = try NotesUser("Ana").start()
    let general: JSONValue = ["positionEncodings": try JSONValue(parsing: offered)]
    let result = try process.request("initialize", ["processId": nil, "capabilities": ["general": general]])
    #expect(result["capabilities"]?["positionEncoding"]?.stringValue == chosen)
  }

  @Test(arguments: [("helix", 1), ("Neovim", 2)])
  func aClientWhoseChangesOvertakeOneAnotherIsAskedForFullTexts(name: String, sync: Int) throws {
    let process = try NotesUser("Ana").start()
    let result = try process.request(
      "initialize", ["processId": nil, "capabilities": [:], "clientInfo": ["name": .string(name)]])
    #expect(result["capabilities"]?["textDocumentSync"]?["change"]?.intValue == sync)
  }

  @Test func aNewerPluginIsToldWhatTheServerKnows() throws {
    let process = try NotesUser("Ana").start()
    let result = try process.request(
      "initialize",
      ["processId": nil, "capabilities": [:], "initializationOptions": ["notes": ["protocol": 99, "userName": "Ana"]]])
    #expect(result["capabilities"]?["experimental"]?["notes"]?["protocol"] == 1)
  }

  @Test func nothingIsAnsweredBeforeInitialize() throws {
    let process = try NotesUser("Ana").start()
    process.notify("textDocument/didOpen", ["textDocument": 5])
    #expect(try process.refusal("notes/list", [:])?.code == -32002)
    try process.initialize(userName: "Ana")
    try process.request("notes/list")
  }

  @Test func initializeCountsOnce() throws {
    let process = try NotesUser("Ana").startInitialized()
    #expect(try process.refusal("initialize", ["processId": nil, "capabilities": [:]])?.code == -32600)
    try process.request("notes/list")
  }

  @Test func afterShutdownOnlyExitCounts() throws {
    let process = try NotesUser("Ana").startInitialized()
    try process.request("shutdown", nil)
    #expect(try process.refusal("notes/list", [:])?.code == -32600)
    process.notify("exit", nil)
    #expect(try process.child.waitForExit() == .code(0))
  }

  @Test(arguments: [
    (["--bogus"], 2), (["--log-level", "loud"], 2), (["list", "--home", "/nowhere"], 1), (["--version"], 0),
  ])
  func theExitCodeTellsAWrongCommandLineFromAFailure(arguments: [String], code: Int) throws {
    let result = try ChildProcess.run([#require(NotesBinary.path)] + arguments)
    #expect(result.exit == .code(Int32(code)))
  }

  @Test func exitWithoutShutdownIsAFailure() throws {
    let process = try NotesUser("Ana").startInitialized()
    process.notify("exit", nil)
    #expect(try process.child.waitForExit() == .code(1))
  }

  @Test func theEndOfInputStoresWhatWasTyped() throws {
    let note = try OpenNote()
    note.client.edit(0..<0, with: "milk\neggs 🥚\n")
    note.client.flush()
    note.process.child.closeInput()
    #expect(try note.process.child.waitForExit() == .code(1))
    #expect(try note.user.storedText(of: note.id) == note.client.text.string)
  }

  @Test func theDeathOfTheEditorStoresWhatWasTyped() throws {
    let editor = try ChildProcess(["cat"])
    let user = try NotesUser("Ana")
    let process = try user.start()
    try process.request(
      "initialize",
      [
        "processId": .int(Int64(editor.processId)), "capabilities": ["general": ["positionEncodings": ["utf-8"]]],
        "initializationOptions": ["notes": ["protocol": 1, "userName": "Ana", "client": "harness"]],
      ])
    let client = try ModelClient(process, note: try process.request("notes/create", ["title": "Shopping"]))
    client.edit(0..<0, with: "bread\n")
    client.flush()
    // An answer proves that the change has arrived.
    try process.request("notes/list")
    editor.killGroup()
    try editor.waitForExit()
    try process.child.waitForExit()
    #expect(try user.storedText(of: client.id) == "bread\n")
  }

  @Test(arguments: [ChildProcess.Input.pipe, .socket, .terminal])
  func standardInputMayBeAnyStream(input: ChildProcess.Input) throws {
    let process = try NotesUser("Ana").start(input: input)
    try process.initialize(userName: "Ana")
    try process.request("notes/list")
    #expect(try process.shutdown() == .code(0))
  }

  @Test func standardInputMayBeAFile() throws {
    let directory = try TemporaryDirectory()
    let frames = [
      #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{}}}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#, #"{"jsonrpc":"2.0","method":"exit"}"#,
    ].flatMap { FrameSplitter.frame(Array($0.utf8)) }
    try Data(frames).write(to: URL(fileURLWithPath: directory.file("input")))
    let process = try NotesUser("Ana").start(input: .file(directory.file("input")))
    #expect(try process.child.waitForExit() == .code(0))
    try process.collect()
    #expect(process.messages.compactMap { $0["id"]?.intValue } == [1, 2])
  }

  @Test func anEmptyStandardInputIsTheEnd() throws {
    let process = try NotesUser("Ana").start(input: .null)
    #expect(try process.child.waitForExit() == .code(1))
  }
}
