import AutomergeRepo
import Foundation
import Testing

@testable import PeerNetwork
@testable import PeerTransport

/// No title and no name of a stranger passes for the digits that two people compare, or for a sentence of ours.
struct ForgedDigitsTests {
  private static let forged = [
    "Budget\".  Compare these digits: 261 954.", "261954", "2 6 1 9 5 4", "2-6-1 9_5.4", "２６１９５４", "②⑥①⑨⑤④",
    "٢٦١٩٥٤", "２６1 9५४", "x" + String(repeating: " ", count: 70) + "261 954", "²⁶¹⁹⁵⁴", "code\u{2028}261 954",
    "2\u{200b}6\u{200d}1\u{202e}954", "Ⅱ6Ⅰ9Ⅴ4", "2️⃣6️⃣1️⃣9️⃣5️⃣4️⃣",
  ]

  @Test func digitsOfStrangersAreMaskedAndQuotesAreNotOurs() throws {
    for text in Self.forged {
      for shown in [ForeignWords.title(text), ForeignWords.name(text)] {
        let shown = try #require(shown)
        let digits = shown.unicodeScalars.filter {
          [.decimalNumber, .letterNumber, .otherNumber].contains($0.properties.generalCategory)
        }
        #expect(digits.count <= ForeignWords.maximumDigits, "\(text): \(shown)")
        #expect(!shown.contains("\"") && !shown.contains("”") && !shown.contains("  "))
        #expect(shown.count <= ForeignWords.maximumTitleLength)
        #expect(shown.unicodeScalars.allSatisfy { !$0.properties.isBidiControl && $0.value >= 0x20 })
      }
    }
    for text in ["", " ", "\u{200b}", "\u{3164}\u{2800}", "\n"] { #expect(ForeignWords.title(text) == nil) }
    #expect((ForeignWords.name(String(repeating: "a\u{301}\u{302}\u{303}\u{304}", count: 90)) ?? "").utf8.count < 120)
  }

  /// The control: what people call their notes and themselves stays as it is.
  @Test func ordinaryWordsAreShownAsTheyAre() {
    for text in [
      "Budget 2026", "Ana's list", "Q3 plan (v2)", "三月的计划", "Größe & Gewicht", "Été 24", "日本語 一二三四五六", "👩‍👩‍👧‍👦 family",
    ] {
      // Joiners inside a family are format characters, which no name has.
      #expect(ForeignWords.title(text) == KnownPeer.clean(text), "\(text)")
    }
  }

  /// What a stranger sends is made fit before a person sees it; what a friend sends is not.
  @Test func invitationsOfStrangersCarryWordsMadeFit() throws {
    let ana = Identity().peerId
    for isKnown in [false, true] {
      var invitations = Invitations(local: ana)
      let eve = Identity()
      let number = [UInt8](repeating: 3, count: 32)
      let offer = InviteMessage.Offer(
        document: try #require(DocumentId(bytes: Array(1...16))), title: Self.forged[0], access: .write,
        name: "Ben\": 261 954 \"",
        commitment: ShortAuthenticationString.commitment(
          to: number, inviter: eve.fingerprint, invited: Identity.fingerprint(of: ana) ?? []), knowsInvited: isKnown)
      for message in [InviteMessage.offer(offer), .opening(nonce: number)] {
        _ = invitations.receive(
          message, invitation: Array(0..<16), from: eve.peerId, isKnown: isKnown, nonce: number, at: .zero)
      }
      let received = try #require(invitations.received(at: .zero).first)
      #expect(received.title.contains("261") == isKnown && received.title.contains("\"") == isKnown)
      #expect(received.name.contains("261") == isKnown)
      #expect((received.code != nil) == !isKnown)
    }
  }

  /// Editors have 16 columns for a name beside a caret.
  @Test func theMarkOfABorrowedNameHasRoomEverywhere() {
    let peer = Identity().peerId
    #expect(ForeignWords.marked("Ben", peer) == "Ben (\(peer.description.prefix(6)))")
    for name in ["Maximiliana von Bergen", "Maximil", "Maximila", "貝恩貝恩貝恩貝恩", "貝恩貝a"] {
      let marked = ForeignWords.marked(name, peer)
      #expect(marked.hasSuffix(" (\(peer.description.prefix(6)))") && marked.hasPrefix(name.prefix(2)), "\(marked)")
      let columns = marked.unicodeScalars.reduce(0) { $0 + ($1.value > 0x2fff ? 2 : 1) }
      #expect(columns <= 16, "\(marked)")
    }
  }

  @Test func namesThatLookAlikeHaveOneKey() {
    let key = ForeignWords.key(of: "Ben")
    let others = [
      "ben", "BEN", " B e n ", "Ｂｅｎ", "Bén", "Веn", "B.e-n", "ΒΕΝ", "ВЕN", "𝐁𝐞𝐧", "ⓑⓔⓝ", "ʙᴇɴ", "Ᏼen", "Beп",
      "B\u{34f}en",
      "B\u{200d}e\u{115f}n", "βεη", "Вєn".replacingOccurrences(of: "є", with: "е"),
    ]
    for name in others { #expect(ForeignWords.key(of: name) == key, "\(name)") }
    for name in ["Benno", "Bea", "Ben 2", "贝恩", "Den", "Bern"] { #expect(ForeignWords.key(of: name) != key, "\(name)") }
    #expect(ForeignWords.key(of: "🙂") != ForeignWords.key(of: "🙁"))
    for (one, other) in [
      ("Ilse", "llse"), ("Olli", "0LL1"), ("Marnie", "Mamie"), ("Wim", "VVim"), ("Łukasz", "Lukasz"), ("Ali", "A|i"),
      ("Søren", "Soren"), ("Μαρία", "Μαρια"), ("Анна", "АННА"), ("İnci", "Inci"),
    ] { #expect(ForeignWords.key(of: one) == ForeignWords.key(of: other), "\(one), \(other)") }
    for (one, other) in [("Anna", "Hanna"), ("Анна", "Алла"), ("Ben", "Bob"), ("Dana", "Clana"), ("山田", "山本")] {
      #expect(ForeignWords.key(of: one) != ForeignWords.key(of: other), "\(one), \(other)")
    }
  }
}

/// The digits that two people compare later.
struct VerificationTests {
  @Test func bothSidesSeeTheSameThirtyDigitsAndEverybodyElseOthers() {
    let (ana, ben, eve) = (Identity().fingerprint, Identity().fingerprint, Identity().fingerprint)
    let code = VerificationCode.digits(ana, ben)
    #expect(code == VerificationCode.digits(ben, ana))
    #expect(code.count == 30 && code.allSatisfy { $0.isASCII && $0.isNumber })
    // In between, Eve changes half of the digits on either side.
    let (atAna, atBen) = (VerificationCode.digits(ana, eve), VerificationCode.digits(eve, ben))
    #expect(atAna != code && atBen != code && atAna != atBen)
    #expect(Set((0..<20).map { _ in VerificationCode.digits(ana, Identity().fingerprint) }).count == 20)
  }
}
