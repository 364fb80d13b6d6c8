import Cryptography
import Testing

/// The examples of the standards, and what must not stop the program.
struct CryptographyTests {
  private func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }

  @Test func hashesAreThoseOfTheStandard() {
    #expect(
      Array(SHA256.hash(data: Array("abc".utf8)))
        == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    #expect(
      Array(SHA256.hash(data: [UInt8]()))
        == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    #expect(SHA1.hash(Array("abc".utf8)) == bytes("a9993e364706816aba3e25717850c26c9cd0d89d"))
    #expect(SHA1.hash([]) == bytes("da39a3ee5e6b4b0d3255bfef95601890afd80709"))
  }

  @Test func aHashOfPiecesIsTheHashOfTheWhole() {
    let text = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    var hash = SHA256()
    for piece in stride(from: 0, to: 1000, by: 37) { hash.update(data: text[piece..<min(piece + 37, 1000)]) }
    let digest = hash.finalize()
    #expect(digest == SHA256.hash(data: text))
    #expect(digest == text.withUnsafeBytes { SHA256.hash(bufferPointer: $0) })
    // A sequence that lies nowhere in one piece.
    #expect(digest == SHA256.hash(data: text.lazy.map { $0 }))

    hash.update(data: [1])
    #expect(hash.finalize() == SHA256.hash(data: text + [1]))
    #expect(digest == SHA256.hash(data: text), "a finished hash changes no more")
  }

  @Test func codesAreThoseOfTheStandard() {
    let text = Array("what do ya want for nothing?".utf8), key = Array("Jefe".utf8)
    let code = bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(HMAC.code(for: text, key: key) == code)
    #expect(HMAC.isCode(code, for: text, key: key))
    #expect(!HMAC.isCode(code, for: text + [0], key: key))
    #expect(!HMAC.isCode(code, for: text, key: key + [1]))
    #expect(!HMAC.isCode(code.dropLast(), for: text, key: key))
    #expect(!HMAC.isCode([], for: text, key: key))
  }

  @Test func anEmptyKeyAndAnEmptyTextHaveACode() {
    #expect(
      HMAC.code(for: [], key: []) == bytes("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
  }

  @Test func keysAreDerivedAsTheStandardsDo() {
    let salt = Array("salt".utf8)
    #expect(
      DerivedKey.fromPasscode(Array("password".utf8), salt: salt, iterationCount: 2)
        == bytes("ae4d0c95af6b46d32d0adff928f06dd02a303f8ef3c251dfd6e2d85a95474c43"))
    #expect(DerivedKey.fromPasscode([], salt: salt, iterationCount: 1).count == 32)
    #expect(
      DerivedKey.fromSecret([UInt8](repeating: 0x0b, count: 22), purpose: [])
        == bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"))
  }

  @Test func signaturesAreThoseOfTheStandard() throws {
    let none = try #require(
      Ed25519.PrivateKey(seed: bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")))
    #expect(none.publicKey == bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
    #expect(
      none.signature(for: [])
        == bytes(
          "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            + "d25bf5f0595bbe24655141438e7a100b"))
    #expect(Ed25519.isSignature(none.signature(for: []), of: [], publicKey: none.publicKey))
    #expect(Ed25519.PrivateKey(seed: [1, 2, 3]) == nil)
  }

  @Test func aSignatureIsOfOneTextAndOneKey() throws {
    let key = try #require(Ed25519.PrivateKey(seed: [UInt8](repeating: 1, count: 32)))
    let other = try #require(Ed25519.PrivateKey(seed: [UInt8](repeating: 2, count: 32)))
    let text = Array("Milk, eggs".utf8), signature = key.signature(for: text)
    #expect(Ed25519.isSignature(signature, of: text, publicKey: key.publicKey))
    #expect(!Ed25519.isSignature(signature, of: text, publicKey: other.publicKey))
    #expect(!Ed25519.isSignature(signature, of: text + [10], publicKey: key.publicKey))
    for place in [0, 31, 32, 63] {
      var changed = signature
      changed[place] ^= 1
      #expect(!Ed25519.isSignature(changed, of: text, publicKey: key.publicKey))
    }
    #expect(!Ed25519.isSignature([], of: text, publicKey: key.publicKey))
    #expect(!Ed25519.isSignature(signature + [0], of: text, publicKey: key.publicKey))
    #expect(!Ed25519.isSignature(signature, of: text, publicKey: []))
    #expect(!Ed25519.isSignature(signature, of: text, publicKey: [UInt8](repeating: 0xff, count: 32)))
  }

  @Test func encryptionIsThatOfTheStandard() {
    let zeros = [UInt8](repeating: 0, count: 32), nonce = [UInt8](repeating: 0, count: 12)
    #expect(
      AESGCM.seal([UInt8](repeating: 0, count: 16), with: [], key: zeros, nonce: nonce)
        == nonce + bytes("cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919"))
    #expect(AESGCM.seal([], with: [], key: zeros, nonce: nonce) == nonce + bytes("530f8afbc74536b9a963b4f1c4cb738b"))
    #expect(AESGCM.seal([], with: [], key: [1], nonce: nonce) == nil)
    #expect(AESGCM.seal([], with: [], key: zeros, nonce: [1]) == nil)
  }

  @Test func whatIsSealedOpensOnlyAsItWas() throws {
    let key = [UInt8](repeating: 7, count: 32), nonce = [UInt8](1...12), place = Array("ws://a".utf8)
    for text in [[], Array("secret".utf8), [UInt8](repeating: 9, count: 5000)] {
      let sealed = try #require(AESGCM.seal(text, with: place, key: key, nonce: nonce))
      #expect(sealed.count == 12 + text.count + 16)
      #expect(AESGCM.open(sealed, with: place, key: key) == text)
      #expect(AESGCM.open(sealed, with: Array("ws://b".utf8), key: key) == nil)
      #expect(AESGCM.open(sealed, with: [], key: key) == nil)
      #expect(AESGCM.open(sealed, with: place, key: [UInt8](repeating: 8, count: 32)) == nil)
      for index in [0, 11, 12, sealed.count - 1] {
        var changed = sealed
        changed[index] ^= 0x80
        #expect(AESGCM.open(changed, with: place, key: key) == nil)
      }
      #expect(AESGCM.open(sealed.dropLast(), with: place, key: key) == nil)
    }
    #expect(AESGCM.open([], with: [], key: key) == nil)
    #expect(AESGCM.open([UInt8](repeating: 0, count: 27), with: [], key: key) == nil)
  }
}
