import Foundation
import TestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

struct IdentityTests {
  @Test func theIdentityIsMadeOnceAndForItsOwnerOnly() throws {
    let directory = try TemporaryDirectory()
    let file = IdentityFile(path: directory.file("identity.pem"))
    let identity = try file.load()
    #expect(try file.load().fingerprint == identity.fingerprint)
    #expect(try file.load().privateKey == identity.privateKey)
    #expect(Identity.fingerprint(of: identity.peerId) == identity.fingerprint)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["identity.pem"])
  }

  @Test func whatOthersCanReadIsRefused() throws {
    let directory = try TemporaryDirectory()
    let file = IdentityFile(path: directory.file("identity.pem"))
    let identity = try file.load()
    for mode in [0o640, 0o604, 0o666] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      #expect(throws: IdentityError.readableByOthers(path: file.path)) { try file.load() }
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    #expect(try file.load().fingerprint == identity.fingerprint)
  }

  @Test func whatIsNoKeyIsRefusedAndNeverReplaced() throws {
    let directory = try TemporaryDirectory()
    let file = IdentityFile(path: directory.file("identity.pem"))
    let good = Identity().pem
    for text in [
      "", "hello", String(good.dropLast(40)), good.replacing("M", with: "N"), good.replacing("PRIVATE", with: "PUBLIC"),
      good + good,
    ] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      #expect(throws: IdentityError.damaged(path: file.path)) { try file.load() }
      #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
    }
    let link = IdentityFile(path: directory.file("link.pem"))
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: file.path)
    #expect(throws: IdentityError.self) { try link.load() }
    #expect(throws: IdentityError.self) { try IdentityFile(path: directory.path).load() }
    #expect(throws: IdentityError.self) { try IdentityFile(path: directory.file("no/where.pem")).load() }
  }

  @Test func aKeySurvivesItsText() throws {
    let identity = Identity()
    #expect(Identity(pem: identity.pem)?.fingerprint == identity.fingerprint)
    #expect(Identity(privateKey: [1, 2, 3]) == nil)
    // Source: RFC 8032, section 7.1, test 1.
    let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    let publicKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    let known = try #require(Hex.bytes(seed).flatMap { Identity(privateKey: $0) })
    #expect(known.fingerprint == Identity.fingerprint(ofPublicKey: try #require(Hex.bytes(publicKey))))
  }
}
