import AutomergeRepo
import Foundation

/// Checks of the providers, without repos.
extension NetworkConformance {
  func connecting(_ stations: Stations) throws {
    let ends = [stations.pair.first, stations.pair.second]
    for index in 0...1 {
      let (recorder, other) = (stations.recorders[index], ends[1 - index])
      try expect(recorder.metadata?.name == other.local.metadata.name, "a peer is reported with its own metadata")
      if !other.provider.isSiblings {
        try expect(recorder.peer == other.local.peerId, "a peer is reported by the id that its repo has")
      }
    }
  }

  func everyMessage(_ stations: Stations) async throws {
    let bytes = Data([1, 2, 3])
    var expected: [RepoMessage] = []
    let (sender, target) = (stations.pair.first.local.peerId, stations.peer(of: 0))
    let (author, local) = (stations.peer(of: 1), stations.pair.second.local.peerId)
    for isSent in [true, false] {
      let (sender, target) = isSent ? (sender, target) : (author, local)
      guard case .document(let inner) = stations.message(bytes, from: 0).sent else { return }
      let contents: [RepoMessage.Content] = [.sync(bytes), .request(bytes), .unavailable]
      let messages: [RepoMessage] =
        contents.map { content in
          .document(.init(senderId: sender, targetId: target, documentId: inner.documentId, content: content))
        } + [
          .ephemeral(
            .init(
              senderId: sender, targetId: target, documentId: inner.documentId, count: 1, sessionId: "s", data: bytes)),
          .ephemeral(
            .init(
              senderId: PeerId("another author"), targetId: target, documentId: inner.documentId, count: 1 << 40,
              sessionId: "t", data: bytes)),
          .error(senderId: sender, targetId: target, message: "an error"),
          .other(
            type: "conformance",
            fields: ["senderId": .text(sender.description), "targetId": .text(target.description), "n": .integer(1)]),
        ]
      if isSent { for message in messages { stations.send(message, from: 0) } } else { expected = messages }
    }
    let recorder = stations.recorders[1]
    try await stations.wait("every kind of message arrives") { recorder.messages.count >= expected.count }
    try expect(recorder.messages == expected, "every kind of message arrives as it was sent")
  }

  func order(_ stations: Stations) async throws {
    var expected: [[RepoMessage]] = [[], []]
    for number in 0..<300 {
      for index in 0...1 {
        let message = stations.message(Data("\(number)".utf8), from: index)
        stations.send(message.sent, from: index)
        expected[1 - index].append(message.received)
      }
      if number % 50 == 0 { await stations.pair.passTime() }
    }
    let recorders = stations.recorders
    try await stations.wait("all messages arrive, in both directions at once") {
      recorders.allSatisfy { $0.messages.count >= 300 }
    }
    for index in 0...1 {
      try expect(recorders[index].messages == expected[index], "messages arrive once, in the order of sending")
    }
  }

  func longMessages(_ stations: Stations) async throws {
    let byteCount = min(4 << 20, (stations.pair.maximumByteCount ?? .max) / 2)
    let long = Data.pattern(byteCount: byteCount)
    for index in 0...1 {
      let message = stations.message(long, from: index)
      stations.send(message.sent, from: index)
      let recorder = stations.recorders[1 - index]
      try await stations.wait("a message of \(byteCount) bytes arrives") { !recorder.messages.isEmpty }
      try expect(recorder.messages == [message.received], "a message of \(byteCount) bytes arrives whole")
    }
  }

  func tooLongMessages(_ stations: Stations) async throws {
    guard let maximum = stations.pair.maximumByteCount else { return }
    let (long, short) = (stations.message(Data(count: maximum), from: 0), stations.message(Data([1]), from: 0))
    stations.send(long.sent, from: 0)
    stations.send(short.sent, from: 0)
    let recorder = stations.recorders[1]
    try await stations.wait("what is sent after a message that is too long arrives") { !recorder.messages.isEmpty }
    try expect(recorder.messages == [short.received], "a message that is too long is left out")
    try expect(stations.areConnected, "a message that is too long does not end the connection")
  }

  func otherPeers(_ stations: Stations) async throws {
    let (lost, marker) = (stations.message(Data([1]), from: 0), stations.message(Data([2]), from: 0))
    stations.send(lost.sent, from: 0, to: PeerId("a peer that is not connected"))
    stations.first.disconnect(PeerId("a peer that is not connected"))
    stations.first.setReading(false, from: PeerId("a peer that is not connected"))
    stations.send(marker.sent, from: 0)
    let recorder = stations.recorders[1]
    try await stations.wait("messages arrive after one to a peer that is not connected") { !recorder.messages.isEmpty }
    try expect(recorder.messages == [marker.received], "a message to a peer that is not connected is dropped")
  }

  func forgedSenders(_ stations: Stations) async throws {
    let marker = stations.message(Data([2]), from: 0)
    guard case .document(let honest) = marker.sent else { return }
    for (sender, target) in [(PeerId("mallory"), honest.targetId), (honest.senderId, PeerId("mallory"))] {
      var forged = honest
      (forged.senderId, forged.targetId) = (sender, target)
      let fields: [String: CBOR] = ["senderId": .text(sender.description), "targetId": .text(target.description)]
      for content in [honest.content, .request(Data([2])), .unavailable] {
        forged.content = content
        stations.send(.document(forged), from: 0)
      }
      stations.send(.other(type: "conformance", fields: fields), from: 0)
    }
    stations.send(marker.sent, from: 0)
    let recorder = stations.recorders[1]
    let rule = "a message with a sender that is not its peer, or for another target, is not delivered"
    // A provider may disconnect because of a forged message.
    try await stations.wait(rule) { !recorder.messages.isEmpty || !recorder.isConnected }
    try expect(recorder.messages.allSatisfy { $0 == marker.received }, rule)
  }

  /// Checks that messages get through. If the two are not connected, connects them again first.
  private func talk(_ stations: Stations) async throws {
    if !stations.areConnected { try await stations.connect() }
    for index in 0...1 {
      let (count, recorder) = (stations.recorders[1 - index].messages.count, stations.recorders[1 - index])
      stations.send(stations.message(Data([9]), from: index).sent, from: index)
      try await stations.wait("messages arrive after connecting again") { recorder.messages.count > count }
    }
  }

  func disconnecting(_ stations: Stations) async throws {
    for round in 1...3 {
      let (index, recorders) = (round % 2, stations.recorders)
      let provider = index == 0 ? stations.first : stations.second
      provider.disconnect(stations.peer(of: index))
      provider.disconnect(stations.peer(of: index))
      try await stations.wait("after disconnect, both providers report the peer as disconnected") {
        recorders.allSatisfy { $0.disconnectedCount >= round }
      }
      try await talk(stations)
    }
  }

  func brokenConnection(_ stations: Stations) async throws {
    guard let breakConnection = stations.pair.breakConnection else { return }
    let recorders = stations.recorders
    try await breakConnection()
    try await stations.wait("when the connection breaks, both providers report the peer as disconnected") {
      recorders.allSatisfy { $0.disconnectedCount > 0 }
    }
    try await talk(stations)
  }

  func stopping(_ stations: Stations) async throws {
    let recorders = stations.recorders
    stations.second.stop()
    stations.send(stations.message(Data([1]), from: 1).sent, from: 1)
    stations.second.stop()
    try await stations.wait("when one provider stops, both report the peer as disconnected") {
      recorders.allSatisfy { $0.disconnectedCount > 0 && !$0.isConnected }
    }
    try expect(recorders[0].messages.isEmpty, "a provider that is stopped sends nothing")
  }

  func delegate(_ pair: NetworkPair) async throws {
    var recorder: Recorder? = Recorder(pair.first)
    weak let observed = recorder
    if let recorder { pair.first.provider.start(as: pair.first.local, delegate: recorder) }
    recorder = nil
    try expect(observed == nil, "a provider does not retain its delegate")
  }

  func brokenBytes(_ stations: Stations) async throws {
    guard let inject = stations.pair.inject else { return }
    var random = SplitMix(seed: 1)
    let noise = (0..<2000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let recorder = stations.recorders[1]
    let good = stations.message(Data([9]), from: 0)
    for bytes in [noise, Array(repeating: 0xFF, count: 64), Array(repeating: 0, count: 64), Array(noise.prefix(3))] {
      if !stations.areConnected { try await stations.connect() }
      let (count, losses) = (recorder.messages.count, recorder.disconnectedCount)
      try await inject(bytes)
      // Bytes that look like the beginning of a message may swallow some messages after them.
      try await stations.wait("after broken bytes a provider goes on or disconnects") {
        stations.send(good.sent, from: 0)
        return recorder.messages.count > count || recorder.disconnectedCount > losses
      }
      try expect(recorder.messages.allSatisfy { $0 == good.received }, "broken bytes are never delivered as a message")
      if recorder.disconnectedCount > losses {
        try await stations.wait("when one provider ends a connection, both report it") {
          stations.recorders[0].disconnectedCount >= recorder.disconnectedCount
        }
      }
    }
    try await talk(stations)
  }
}

/// Random numbers that are the same in every run.
private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
