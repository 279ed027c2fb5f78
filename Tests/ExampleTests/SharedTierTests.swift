import Foundation
import Testing

/// The example with a shared directory behind the local one. Several processes stand for machines.
struct `A shared tier` {
  private let scene: Scene
  private static let keys = (0..<12).map { "key\($0)" }

  init() throws {
    scene = try Scene()
    try FileManager.default.createDirectory(
      at: scene.root.appending(path: "origin"), withIntermediateDirectories: false)
    for key in Self.keys { try scene.write(Self.value(of: key), to: "origin/\(key)") }
  }

  private static func value(of key: String) -> [UInt8] {
    Array(repeatElement(key, count: 99).joined().utf8)
  }

  /// Runs the program as one machine, and returns the source of each value.
  ///
  /// - Parameter patience: The seconds that a call may take, on a busy machine too.
  private func run(
    _ machine: String, _ keys: [String] = keys, patience: Int = 3600
  ) throws -> [String] {
    let outcome = try Program("SharedTier").run(
      [machine, "shared", "origin"] + keys, in: scene,
      environment: ["SHARED_TIER_PATIENCE": "\(patience)"])
    #expect(outcome.status == 0, "\(outcome.talk)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == keys.count)
    for (line, key) in zip(lines, keys) {
      #expect(line.hasPrefix("\(key): \(Self.value(of: key).count) bytes from "))
    }
    return lines.map { String($0.split(separator: " from ")[1].split(separator: " in ")[0]) }
  }

  @Test func `gives one machine what another has loaded`() throws {
    #expect(try Set(run("first")) == ["origin"])
    #expect(try Set(run("first")) == ["local"])
    #expect(try Set(run("second")) == ["shared"])
  }

  @Test func `has each key loaded once by machines that ask at once`() async throws {
    let sources = try await withThrowingTaskGroup(of: [String].self) { group in
      for machine in 0..<4 {
        group.addTask { try run("machine\(machine)") }
      }
      return try await group.reduce([], +)
    }
    #expect(sources.count { $0 == "origin" } == Self.keys.count)
    #expect(sources.count { $0 == "shared" } == Self.keys.count * 3)
  }

  @Test(.enabled(if: Lease.isPossible), arguments: [1, 3])
  func `that hangs is asked again until three calls hang`(count: Int) throws {
    try FileManager.default.createDirectory(
      at: scene.root.appending(path: "shared.locks"), withIntermediateDirectories: false)
    let leases = try Self.keys.prefix(count).map { key in
      let hash = key.utf8.reduce(0 as UInt32) { $0 &* 31 &+ UInt32($1) } % 1024
      return try Lease(scene.root.appending(path: "shared.locks/\(hash)").path)
    }
    // A lease ends after 45 s.
    let sources = try run("first", patience: count < 3 ? 20 : 2)
    withExtendedLifetime(leases) {}
    let alone = count < 3 ? count : Self.keys.count
    #expect(sources.prefix(alone).allSatisfy { $0 == "originAlone" }, "\(sources)")
    #expect(sources.dropFirst(alone).allSatisfy { $0 == "origin" }, "\(sources)")
  }

  @Test func `that is dead makes every machine load for itself`() throws {
    try scene.write([], to: "shared")
    #expect(try Set(run("first")) == ["originAlone"])
    #expect(try Set(run("first")) == ["local"])
  }
}
