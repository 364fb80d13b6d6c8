import Automerge
import Foundation
import Testing

struct IdentityTests {
  @Test func headsAreWrittenAndReadAsBytes() throws {
    let document = Document()
    #expect(document.heads().raw() == Data() && Data().heads() == [])
    var all: Set<ChangeHash> = []
    let forks = (0..<5).map { _ in document.fork() }
    for (number, fork) in forks.enumerated() {
      try fork.put(obj: .ROOT, key: "key", value: .Int(Int64(number)))
      all.formUnion(fork.heads())
    }
    for fork in forks { try document.merge(other: fork) }
    let heads = document.heads()
    #expect(heads == all && heads.count == 5)
    #expect(Array(heads.raw()) == heads.sorted().reversed().flatMap(\.bytes))
    #expect(heads.raw().count == 160 && heads.raw().heads() == heads)
    #expect(Set(heads.reversed()).raw() == heads.raw())
    #expect(heads.raw().dropFirst().heads() == nil)
    #expect((Data([0]) + heads.raw()).dropFirst().heads() == heads)
  }

  @Test func objectsAreNamedByTheOperationThatMadeThem() throws {
    let document = Document()
    document.actor = try #require(ActorId(data: Data([0xAA, 0x01])))
    try document.put(obj: .ROOT, key: "first", value: .Null)
    let object = try document.putObject(obj: .ROOT, key: "second", ty: .List)
    #expect("\(object)" == "2@aa01" && object.debugDescription == "2@aa01" && ObjId.ROOT.description == "_root")
  }
}
