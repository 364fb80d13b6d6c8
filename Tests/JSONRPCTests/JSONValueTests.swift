import JSONRPC
import Testing

struct JSONValueTests {
  @Test func membersAndElementsAreFoundOrNil() {
    let value: JSONValue = ["a": [10, 20], "b": "x"]
    #expect(value["a"]?[1] == 20)
    #expect(value["a"]?[2] == nil)
    #expect(value["a"]?[-1] == nil)
    #expect(value["c"] == nil)
    #expect(value["b"]?["x"] == nil)
    #expect(value[0] == nil)
  }

  @Test func numbersConvertOnlyExactly() {
    #expect(JSONValue.double(3).intValue == 3)
    #expect(JSONValue.double(3.5).intValue == nil)
    #expect(JSONValue.double(1e300).intValue == nil)
    #expect(JSONValue.int(3).doubleValue == 3)
    #expect(JSONValue.string("3").intValue == nil)
  }

  @Test func differentSpellingsOfACharacterAreDifferentStrings() throws {
    let composed: JSONValue = "\u{e9}"
    let decomposed: JSONValue = "e\u{301}"
    #expect(composed != decomposed)
    let object = try JSONValue(parsing: "{\"\u{e9}\":1,\"e\u{301}\":2}")
    #expect(object["\u{e9}"] == 1)
    #expect(object["e\u{301}"] == 2)
  }

  @Test func objectsAreEqualInAnyOrder() {
    let one: JSONValue = ["a": 1, "b": 2]
    let other: JSONValue = ["b": 2, "a": 1]
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    #expect(one != ["a": 1, "b": 3])
    #expect(one != ["a": 1])
  }

  @Test func membersKeepTheirPlaceAndCanBeRemoved() {
    var object = JSONObject()
    for number in 0..<40 { object["key\(number)"] = JSONValue(number) }
    object["key3"] = "new"
    object["key5"] = nil
    object["absent"] = nil
    #expect(object.count == 39)
    #expect(object.members[3].key == "key3")
    #expect(object["key3"] == "new")
    #expect(object["key5"] == nil)
    #expect(object["key39"] == 39)
    for number in 0..<38 { object["key\(number)"] = nil }
    #expect(object == ["key38": 38, "key39": 39])
  }

  @Test func absentMembersCanBeLeftOut() {
    let missing: JSONValue? = nil
    #expect(JSONValue.object(present: ["a": 1, "b": missing, "c": .null]) == ["a": 1, "c": nil])
  }
}
