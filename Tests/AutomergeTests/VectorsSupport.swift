import Foundation
import TestSupport

@testable import Automerge

extension Document {
  convenience init(actor: String) throws {
    self.init()
    try rename(actor)
  }

  /// Gives the document an actor.
  func rename(_ hex: String) throws {
    actor = ActorId(bytes: try require(Hex.bytes(hex)))
  }

  /// The heads as the vectors write them.
  var headNames: [String] { heads().map(\.description).sorted() }

  func saveUncompressed() -> [UInt8] { withCore { $0.save(deflating: false) } }

  /// The first broken invariant of any object.
  func brokenInvariant() -> String? {
    withCore { core in
      for (id, object) in core.store.objects {
        if case .sequence(let tree) = object, let broken = tree.checkInvariants() { return "\(id): \(broken)" }
      }
      return nil
    }
  }

  /// The text at a path such as `/list/0/text`; nil if there is no text.
  func text(atPath path: String) -> String? {
    withCore { core in
      var object = OpId.zero
      for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
        let slot: Slot?
        switch core.store[object] {
        case .map(let map): slot = map[MapKey(String(part))]
        case .sequence(let tree):
          guard let index = Int(part), index < tree.total[.elements] else { return nil }
          let run = tree[tree.locate(index + 1, .elements).place]
          slot = run.isIrregular ? tree.slots[Int(run.text)].slot : nil
        case nil: return nil
        }
        guard let winner = slot?.winner() else { return nil }
        object = winner.id
      }
      return core.store.sequence(object)?.string
    }
  }

  /// An object id as the vectors write it.
  func object(named name: String?) throws -> ObjId {
    guard let name, name != "_root" else { return .ROOT }
    let parts = name.split(separator: "@", omittingEmptySubsequences: false)
    return ObjId(counter: try require(UInt64(parts[0])), actor: ActorId(bytes: try require(Hex.bytes(parts[1]))))
  }
}

extension ObjId {
  var vectorName: String { actor.map { "\(counter)@\($0.hexadecimal)" } ?? "_root" }
}

struct Missing: Error {}

func require<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw Missing() }
  return value
}

extension ScalarValue {
  /// A value in the vectors' typed JSON.
  init(vector json: JSON) throws {
    let text = json["v"].string ?? ""
    switch json["t"].string {
    case "null": self = .Null
    case "bool": self = .Boolean(json["v"].bool ?? false)
    case "int": self = .Int(try require(Int64(text)))
    case "uint": self = .Uint(try require(UInt64(text)))
    case "counter": self = .Counter(try require(Int64(text)))
    case "timestamp": self = .Timestamp(Date(timeIntervalSince1970: Double(try require(Int64(text))) / 1000))
    case "f64": self = .F64(Double(bitPattern: try require(UInt64(json["bits"].string ?? "", radix: 16))))
    case "str": self = .String(text)
    case "bytes": self = .Bytes(Data(try require(json["v"].hex)))
    case "unknown":
      self = .Unknown(typeCode: UInt8(try require(json["code"].int)), data: Data(try require(json["v"].hex)))
    default: throw Missing()
    }
  }
}
