import Automerge
import Foundation
import Testing

/// Types that open their containers by hand.
struct CodingContainerTests {
  struct Coordinate: Codable, Equatable {
    var latitude: Double, longitude: Double, elevation: Int, tags: [String], rows: [[Int]]
    enum Keys: CodingKey { case latitude, longitude, info, tags, rows }
    enum InfoKeys: CodingKey { case elevation }

    init(latitude: Double, longitude: Double, elevation: Int, tags: [String], rows: [[Int]]) {
      (self.latitude, self.longitude, self.elevation) = (latitude, longitude, elevation)
      (self.tags, self.rows) = (tags, rows)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      latitude = try container.decode(Double.self, forKey: .latitude)
      longitude = try container.decode(Double.self, forKey: .longitude)
      let info = try container.nestedContainer(keyedBy: InfoKeys.self, forKey: .info)
      elevation = try info.decode(Int.self, forKey: .elevation)
      var list = try container.nestedUnkeyedContainer(forKey: .tags)
      tags = []
      while !list.isAtEnd {
        tags.append(
          try list.decodeNil() ? "-" : list.nestedContainer(keyedBy: Keys.self).decode(String.self, forKey: .tags))
      }
      var outer = try container.nestedUnkeyedContainer(forKey: .rows)
      rows = []
      while !outer.isAtEnd {
        var inner = try outer.nestedUnkeyedContainer()
        var row: [Int] = []
        while !inner.isAtEnd { row.append(try inner.decode(Int.self)) }
        rows.append(row)
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(latitude, forKey: .latitude)
      try container.encode(longitude, forKey: .longitude)
      var info = container.nestedContainer(keyedBy: InfoKeys.self, forKey: .info)
      var list = container.nestedUnkeyedContainer(forKey: .tags)
      try info.encode(elevation, forKey: .elevation)
      for tag in tags {
        if tag == "-" {
          try list.encodeNil()
        } else {
          var element = list.nestedContainer(keyedBy: Keys.self)
          try element.encode(tag, forKey: .tags)
        }
      }
      var outer = container.nestedUnkeyedContainer(forKey: .rows)
      for row in rows {
        var inner = outer.nestedUnkeyedContainer()
        for number in row { try inner.encode(number) }
        #expect(inner.count == row.count)
      }
    }
  }

  @Test func nestedContainersBecomeMapsAndListsAndComeBack() throws {
    let document = Document()
    var sample = Coordinate(
      latitude: 1.5, longitude: -2, elevation: 30, tags: ["a", "-", "b"], rows: [[1, 2], [], [3]])
    for _ in 0..<2 {
      try AutomergeEncoder(doc: document).encode(["here": sample])
      #expect(try AutomergeDecoder(doc: document).decode([String: Coordinate].self) == ["here": sample])
      #expect(try document.at("here.info.elevation") == .Scalar(.Int(Int64(sample.elevation))))
      sample = Coordinate(latitude: 0, longitude: 0, elevation: 31, tags: ["b"], rows: [[3], [4]])
    }
  }

  class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
    enum Keys: CodingKey { case name }
    required init(from decoder: any Decoder) throws {
      name = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .name)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(name, forKey: .name)
    }
  }

  final class Dog: Animal {
    var age: Int
    let usesKey: Bool
    enum DogKeys: CodingKey { case age, parent, usesKey }
    init(name: String, age: Int, usesKey: Bool) {
      (self.age, self.usesKey) = (age, usesKey)
      super.init(name: name)
    }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: DogKeys.self)
      age = try container.decode(Int.self, forKey: .age)
      usesKey = try container.decode(Bool.self, forKey: .usesKey)
      try super.init(from: usesKey ? container.superDecoder(forKey: .parent) : container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: DogKeys.self)
      try container.encode(age, forKey: .age)
      try container.encode(usesKey, forKey: .usesKey)
      try super.encode(to: usesKey ? container.superEncoder(forKey: .parent) : container.superEncoder())
    }
  }

  @Test(arguments: [false, true]) func aSuperclassIsEncodedWithItsSubclass(usesKey: Bool) throws {
    let document = Document()
    try AutomergeEncoder(doc: document).encode(Dog(name: "Fido", age: 3, usesKey: usesKey))
    let dog = try AutomergeDecoder(doc: document).decode(Dog.self)
    #expect(dog.name == "Fido" && dog.age == 3)
    #expect(try document.at(usesKey ? "parent.name" : "name") == .Scalar(.String("Fido")))
  }

  @Test func superEncodersOfListsAreElements() throws {
    struct Pair: Codable, Equatable {
      var first: Int, second: String
      init(first: Int, second: String) { (self.first, self.second) = (first, second) }
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        first = try container.decode(Int.self)
        second = try container.superDecoder().singleValueContainer().decode(String.self)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(first)
        var single = container.superEncoder().singleValueContainer()
        try single.encode(second)
      }
    }
    let document = Document()
    try AutomergeEncoder(doc: document).encode(["pair": Pair(first: 1, second: "two")])
    #expect(try document.at("pair.[1]") == .Scalar(.String("two")))
    #expect(try AutomergeDecoder(doc: document).decode([String: Pair].self)["pair"] == Pair(first: 1, second: "two"))
  }

  @Test func enumerationsOptionalsAndSetsComeBack() throws {
    enum Shape: Codable, Equatable {
      case circle(radius: Double)
      case rectangle(width: Double, height: Double)
      case nothing
    }
    enum Color: String, Codable { case red, green }
    enum Level: Int, Codable { case low, high }
    struct Model: Codable, Equatable {
      var shapes: [Shape], color: Color, level: Level, maybe: Int??, set: Set<String>, tuple: [Color: Level]
    }
    let document = Document()
    var model = Model(
      shapes: [.circle(radius: 1), .nothing, .rectangle(width: 1, height: 2)], color: .green, level: .high, maybe: 3,
      set: ["a"], tuple: [.red: .high])
    for _ in 0..<2 {
      try AutomergeEncoder(doc: document).encode(model)
      #expect(try AutomergeDecoder(doc: document).decode(Model.self) == model)
      model = Model(shapes: [.nothing], color: .red, level: .low, maybe: nil, set: [], tuple: [:])
    }
  }

  @Test func aValueThatOpensContainersOfTwoKindsIsRefused() throws {
    struct Odd: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        var map = encoder.container(keyedBy: AnyCodingKey.self)
        try map.encode(1, forKey: AnyCodingKey("a"))
      }
    }
    let document = Document()
    #expect(throws: EncodingError.self) { try AutomergeEncoder(doc: document).encode(["odd": Odd()]) }
    #expect(document.length(obj: .ROOT) == 0)
  }
}
