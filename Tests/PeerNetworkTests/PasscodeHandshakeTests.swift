import AutomergeRepo
import Foundation
import TestSupport
import Testing

@testable import PeerNetwork

/// Two peers show each other that they know the same passcode.
struct PasscodeHandshakeTests {
  private let ana = PeerId("ana")
  private let ben = PeerId("ben")
  private let eve = PeerId("eve")
  private let key = PasscodeKey(bytes: Data("key".utf8))

  private func side(_ local: PeerId, _ peer: PeerId, _ key: PasscodeKey? = nil, nonce: UInt8) -> PasscodeHandshake {
    PasscodeHandshake(
      key: key ?? self.key, local: local, peer: peer,
      nonce: Data(repeating: nonce, count: PasscodeHandshake.nonceByteCount))
  }

  /// Passes messages to and fro until both are silent; returns what each concluded.
  private func run(_ one: PasscodeHandshake, _ other: PasscodeHandshake) -> [[PasscodeHandshake.Effect]] {
    var sides = [one, other]
    var waiting = [one.begin(), other.begin()]
    var conclusions: [[PasscodeHandshake.Effect]] = [[], []]
    while let index = waiting.firstIndex(where: { !$0.isEmpty }) {
      let effect = waiting[index].removeFirst()
      if case .send(let fields) = effect {
        waiting[1 - index] += sides[1 - index].receive(fields)
      } else {
        conclusions[index].append(effect)
      }
    }
    return conclusions
  }

  @Test func twoPeersThatKnowThePasscodeAgree() {
    #expect(run(side(ana, ben, nonce: 1), side(ben, ana, nonce: 2)) == [[.agreed], [.agreed]])
    #expect(run(side(ben, ana, nonce: 1), side(ana, ben, nonce: 2)) == [[.agreed], [.agreed]])
  }

  @Test func aPeerWithoutItIsRefusedAndToldAndSeesNoProofOfTheSecond() {
    let wrong = PasscodeKey(bytes: Data("guess".utf8))
    #expect(run(side(ana, ben, wrong, nonce: 1), side(ben, ana, nonce: 2)) == [[.refused], [.refused]])
    #expect(run(side(ana, ben, nonce: 1), side(ben, ana, wrong, nonce: 2)) == [[.refused], [.refused]])
  }

  @Test func aProofIsOfNoUseToAThirdPeer() throws {
    // Eve stands between the two, and passes on what she hears.
    var bens = side(ben, eve, nonce: 2)
    var anas = side(ana, eve, nonce: 1)
    let nonceOfBen = try #require(bens.begin().first), nonceOfAna = try #require(anas.begin().first)
    guard case .send(let benGreets) = nonceOfBen, case .send(let anaGreets) = nonceOfAna else {
      Issue.record("both sides begin with a greeting")
      return
    }
    guard case .send(let proof)? = anas.receive(benGreets).first else {
      Issue.record("ana proves first")
      return
    }
    _ = bens.receive(anaGreets)
    #expect(bens.receive(proof).last == .refused)
  }

  @Test func oddMessagesAreRefused() {
    let odd: [[String: CBOR]] = [
      [:], ["nonce": .bytes(Data())], ["nonce": "text"], ["proof": .bytes(Data(repeating: 0, count: 32))],
      ["nonce": .bytes(Data(repeating: 1, count: 32))],
    ]
    for fields in odd {
      var side = side(ana, ben, nonce: 1)
      #expect(side.receive(fields) == [.refused], "\(fields)")
      #expect(side.receive(fields).isEmpty, "the end")
    }
  }

  /// Source of the expected bytes: Python's `hashlib.pbkdf2_hmac`.
  @Test func theKeyIsPBKDF2() async {
    let derived = await PasscodeKey.derive(from: "plum")
    let text = Data("text".utf8)
    let expected = PasscodeKey(bytes: Data(Self.derivedFromPlum))
    #expect(derived.isProof(expected.proof(of: text), of: text))
  }

  private static let derivedFromPlum: [UInt8] = [
    0x13, 0xe6, 0xe2, 0x7b, 0x70, 0x5b, 0x83, 0xce, 0xb4, 0x6a, 0x29, 0xe3, 0x81, 0x41, 0x29, 0x31,
    0xfb, 0xcb, 0xa1, 0x76, 0xfb, 0x67, 0xd5, 0xf1, 0xbe, 0x2e, 0x10, 0xdf, 0x01, 0x85, 0x21, 0xfb,
  ]
}
