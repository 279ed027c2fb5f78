import AsyncHTTPClient
import Foundation
import Larder
import LarderFoundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Vapor

/// Sends files over TCP on this machine and compares what arrives.
func checkFileRegions(_ checks: Checks, in directory: String) async throws {
  let files = try Larder.Cache(directory: directory, coder: .bytes)
  let large = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
  try await files.store(large, forKey: "large")
  try await files.store([], forKey: "empty")

  let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    .bind(host: "127.0.0.1", port: 0) { channel in
      channel.eventLoop.makeCompletedFuture { channel }
    }
  let port = listener.channel.localAddress?.port ?? 0
  let serving = Task {
    try await listener.executeThenClose { connections in
      for try await connection in connections {
        for key in ["large", "empty", "absent"] {
          let isSent = try await send(key, of: files, through: connection)
          checks.expect("a file is sent if there is one", isSent == (key != "absent"), key)
          // What was removed or replaced while it is lent stays readable.
          if key == "large" { try await files.remove(forKey: "large") }
        }
        try await connection.close().get()
        try await files.store(large, forKey: "large")
      }
    }
  }
  for _ in 0..<3 {
    let received = try await receive(from: port)
    checks.expect(
      "what arrives is the file", received == large, "\(received.count) bytes arrived")
  }
  serving.cancel()
  _ = try? await serving.value
  checks.expect(
    "the cache closes the lent descriptors", try openFiles(below: directory) == [],
    try openFiles(below: directory))
  try await files.close()
}

/// Connects and reads to the end.
private func receive(from port: Int) async throws -> [UInt8] {
  let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    .connect(host: "127.0.0.1", port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
  return try await connection.executeThenClose { inbound, _ in
    var bytes: [UInt8] = []
    for try await piece in inbound { bytes += Array(buffer: piece) }
    return bytes
  }
}

/// The regular files below a directory that this process has open.
private func openFiles(below directory: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    .compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    .filter { $0.hasPrefix("\(directory)/") && !$0.contains("/.larder") }
}

/// Downloads from the origin of the script, which has `/large`, 16 MiB, `/cut`, which ends early,
/// and counts requests.
func checkDownloads(
  _ checks: Checks, in directory: String, from origin: String
) async throws {
  var settings = HTTPClient.Configuration()
  settings.timeout.read = .seconds(60)
  let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
  let downloads = Downloads(
    files: try Larder.Cache(directory: directory, coder: .bytes), client: client)
  let url = "\(origin)/large"
  let counts = try await withThrowingTaskGroup(of: Int.self) { group in
    for _ in 0..<8 {
      group.addTask {
        try await downloads.withFile(of: url) { file in
          var count = 0
          for try await piece in file { count += piece.count { $0 == 97 } }
          return count
        }
      }
    }
    return try await group.reduce(into: []) { $0.append($1) }
  }
  checks.expect(
    "all get the whole response", counts == Array(repeating: 16 << 20, count: 8), counts)
  let count = try await client.execute(
    HTTPClientRequest(url: "\(origin)/count"), timeout: .seconds(9))
  let text = String(buffer: try await count.body.collect(upTo: 100))
  checks.expect("of tasks at once one asks the origin", text == "1", text)

  for path in ["cut", "missing"] {
    let url = "\(origin)/\(path)"
    do {
      _ = try await downloads.withFile(of: url) { $0.byteCount }
      checks.expect("a response that fails throws", false, path)
    } catch let error as Downloads.Refused {
      let status: HTTPResponseStatus = path == "cut" ? .badGateway : .notFound
      checks.expect("a response that fails is refused", error.status == status, error)
    }
    checks.expect(
      "nothing is stored of it", try await !downloads.files.contains(url), path)
  }
  try await client.shutdown()
  try await downloads.files.close()
}

/// Drives the adapter for Vapor against the declarations of its protocol.
func checkVaporCache(_ checks: Checks, in directory: String) async throws {
  let clock = ManualClock(.now)
  var configuration = DiskCache.Configuration()
  configuration.clock = clock.wallClock
  let disk = try DiskCache(directory: directory, configuration: configuration)
  let loop = MultiThreadedEventLoopGroup.singleton.next()
  let shared: any Vapor.Cache = DiskVaporCache(disk: disk, eventLoop: loop)
  let cache = shared.for(Request(eventLoop: MultiThreadedEventLoopGroup.singleton.next()))

  try await cache.set("a", to: ["x": 1]).get()
  checks.expect(
    "what was set is got", try await cache.get("a", as: [String: Int].self).get() == ["x": 1])
  try await cache.set("a", to: 2, expiresIn: .minutes(1)).get()
  checks.expect("a set replaces", try await cache.get("a", as: Int.self).get() == 2)
  clock.advance(by: .seconds(60))
  checks.expect("it expires", try await cache.get("a", as: Int.self).get() == nil)
  try await cache.set("a", to: "text").get()
  clock.advance(by: .seconds(365 * 86_400))
  checks.expect(
    "without a time it stays", try await cache.get("a", as: String.self).get() == "text")
  try await cache.delete("a").get()
  checks.expect("what was deleted is gone", try await cache.get("a", as: String.self).get() == nil)
  try await cache.set("b", to: 1).get()
  try await cache.set("b", to: Int?.none).get()
  checks.expect("setting nil removes", try await cache.get("b", as: Int.self).get() == nil)
  try await disk.close()
}
