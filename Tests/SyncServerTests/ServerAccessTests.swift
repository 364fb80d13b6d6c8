import AutomergeRepo
import Foundation
import TestSupport
import Testing

@testable import SyncServer

struct ServerAccessTests {
  private let document: DocumentId
  private let other: DocumentId

  init() throws {
    var random = SystemRandomNumberGenerator()
    (document, other) = (DocumentId.random(using: &random), DocumentId.random(using: &random))
  }

  private func parse(_ text: String) throws(ServerAccessError) -> ServerAccess {
    try ServerAccess(parsing: Array(text.utf8))
  }

  private func complaint(_ text: String) -> String? {
    do {
      _ = try parse(text)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func aFileSaysWhatTokensPeersAndAllOthersMayDo() throws {
    let access = try parse(
      """
      {"default": "read",
       "tokens": {"secret": {"access": "write", "documents": "*", "create": true}},
       "peers": {"ana": {"access": "write", "documents": ["\(document)"]}}}
      """)
    let token = try #require(access.token(presented: "secret"))
    let rule = try #require(access.rule(for: token))
    #expect(rule.access(to: other) == .write)
    #expect(rule.mayCreate(other))
    let ana = access.rule(for: PeerId("ana"))
    #expect(ana.access(to: document) == .write)
    #expect(!ana.mayCreate(document))
    #expect(ana.access(to: other) == .none)
    #expect(access.rule(for: PeerId("ben")).access(to: other) == .read)
  }

  @Test func aFileThatSaysNothingAllowsNothing() throws {
    let access = try parse("{}")
    #expect(access.rule(for: PeerId("ana")) == .nothing)
    #expect(access.token(presented: "") == nil)
  }

  @Test func theDefaultMayBeAWholeRule() throws {
    let access = try parse(#"{"default": {"access": "write", "create": true}}"#)
    #expect(access.fallback.mayCreate(document))
  }

  /// The digest is that of `openssl dgst -sha256`.
  @Test func aFileMayHaveATokensDigestInsteadOfTheToken() throws {
    let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    let access = try parse(#"{"tokens": {"sha256:\#(digest)": {"access": "read"}}}"#)
    #expect(access.token(presented: "secret").flatMap { access.rule(for: $0) }?.access == .read)
    for wrong in ["Secret", digest, "sha256:\(digest)"] { #expect(access.token(presented: wrong) == nil, "\(wrong)") }
    for wrong in ["sha256:", "sha256:secret", "sha256:\(digest)0"] {
      #expect(complaint(#"{"tokens": {"\#(wrong)": {"access": "read"}}}"#)?.contains("entry 1") == true, "\(wrong)")
    }
  }

  @Test func tokensThatEverybodyCanReadAreNoticed() throws {
    let directory = try TemporaryDirectory()
    let digest = "sha256:" + String(repeating: "0", count: 64)
    for (token, mode, isExposed) in [
      ("secret", 0o600, false), ("secret", 0o640, false), ("secret", 0o644, true), (digest, 0o644, false),
    ] {
      let path = directory.file("access.json")
      try #"{"tokens": {"\#(token)": {"access": "read"}}}"#.write(toFile: path, atomically: true, encoding: .utf8)
      #expect(chmod(path, mode_t(mode)) == 0)
      #expect(try ServerAccess(path: path).isExposed == isExposed, "\(token) \(mode)")
    }
  }

  @Test func aFileThatEverybodyCanWriteIsRefused() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("access.json")
    try #"{"default": "none"}"#.write(toFile: path, atomically: true, encoding: .utf8)
    for mode in [0o602, 0o666] as [mode_t] {
      #expect(chmod(path, mode) == 0)
      #expect(throws: ServerAccessError.writableByAll(path: path)) { try ServerAccess(path: path) }
    }
    #expect(chmod(path, 0o664) == 0)
    #expect(throws: Never.self) { try ServerAccess(path: path) }
  }

  @Test func whatStandsThereTwiceIsAnError() {
    let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    #expect(
      complaint(
        #"{"tokens": {"secret": {"access": "read"}, "sha256:\#(digest)": {"access": "write"}}}"#
      )?.contains("tokens, entry 2") == true)
    #expect(
      complaint(#"{"tokens": {"secret": {"access": "read"}, "other": {"access": "write"}}}"#) == nil)
  }

  @Test func aSiteIsNamedAsABrowserNamesIt() {
    for wrong in [#""https://a""#, #"["a.example"]"#, #"["https://a/"]"#, #"["https://"]"#, "[1]"] {
      #expect(complaint(#"{"origins": \#(wrong)}"#)?.contains("origins") == true, "\(wrong)")
    }
    for good in [#""*""#, "[]", #"["https://a.example:8443", "http://localhost"]"#] {
      #expect(complaint(#"{"origins": \#(good)}"#) == nil, "\(good)")
    }
  }

  @Test func onlyTheWholeTokenCounts() throws {
    let access = try parse(#"{"tokens": {"secret": {"access": "read"}}}"#)
    for wrong in ["", "s", "secre", "secrets", "Secret", "secret "] {
      #expect(access.token(presented: wrong) == nil, "\(wrong)")
    }
  }

  @Test func aTokenIsNeitherPrintedNorKept() throws {
    let access = try parse(#"{"tokens": {"hush-hush": {"access": "read"}}}"#)
    #expect(!String(reflecting: access).contains("hush"))
    #expect(!String(describing: AccessToken("hush-hush")).contains("hush"))
    #expect(complaint(#"{"tokens": {"hush-hush": {"acces": "read"}}}"#)?.contains("hush") == false)
    #expect(complaint(#"{"tokens": {"hush hush": {"access": "read"}}}"#)?.contains("hush") == false)
  }

  @Test(arguments: [
    ("{\n  \"default\": nonsense}", "line 2, column 15 is not JSON; check quotes, commas and brackets"),
    ("{\"default\": \"none\"", "line 1, column 19 is not JSON; check quotes, commas and brackets"),
    ("[]", "the file: write an object, {…}"),
    (#"{"tokns": {}}"#, #"the file: "tokns" is unknown here; known are "default", "origins", "tokens", "peers""#),
    (#"{"default": "all"}"#, #"default: write "none", "read" or "write""#),
    (#"{"tokens": []}"#, #"tokens: write {"TOKEN": {…}, …}"#),
    (#"{"tokens": {"a": {"access": "read"}, "b": {}}}"#, #"tokens, entry 2: add "access": "none", "read" or "write""#),
    (#"{"tokens": {"a": {"access": "admin"}}}"#, #"tokens, entry 1, access: write "none", "read" or "write""#),
    (
      #"{"peers": {"a": {"access": "read", "documents": ["x"]}}}"#,
      "peers, entry 1, documents, item 1: this is not a document id; notes-lsp list prints them"
    ),
    (
      #"{"peers": {"a": {"access": "read", "documents": "all"}}}"#,
      #"peers, entry 1, documents: write "*" or a list of document ids"#
    ),
    (#"{"peers": {"a": {"access": "write", "create": 1}}}"#, "peers, entry 1, create: write true or false"),
    (
      #"{"peers": {"a": {"access": "read", "create": true}}}"#,
      #"peers, entry 1, create: only "access": "write" can create documents"#
    ),
  ])
  func anErrorNamesThePlaceAndTheCure(_ text: String, _ message: String) {
    #expect(complaint(text) == message)
  }

  @Test func aFileThatIsNotThereIsSaid() {
    #expect(throws: ServerAccessError.self) { try ServerAccess(path: "/nonexistent/access.json") }
  }
}
