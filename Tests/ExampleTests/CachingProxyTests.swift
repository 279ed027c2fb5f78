import Foundation
import LarderTestSupport
import Testing

/// Three processes of the proxy on one port and one directory, in front of a counting origin.
@Suite(.enabled("curl is not in the PATH") { Program.has("curl") }, .watched)
final class `The caching proxy` {
  private let scene: Scene
  private let origin: Origin
  private var workers: [Process] = []
  private let port: LoopbackPort

  init() throws {
    scene = try Scene()
    origin = try Origin()
    port = try LoopbackPort()
    for _ in 1...3 { try startWorker() }
  }

  deinit {
    for worker in workers where worker.isRunning { kill(worker.processIdentifier, SIGKILL) }
    for worker in workers { worker.waitUntilExit() }
    origin.stop()
  }

  /// Starts a process on the shared port, and waits until it listens.
  private func startWorker() throws {
    let worker = Process()
    worker.executableURL = Program("CachingProxy").url
    worker.arguments = ["\(port.number)", "\(origin.port)", scene.root.path + "/cache"]
    let output = Pipe()
    worker.standardOutput = output
    try worker.run()
    workers.append(worker)
    let line = worker.waitPatiently { output.fileHandleForReading.availableData }
    #expect(line == Data("listening\n".utf8))
  }

  /// Gets a page with `curl`. Returns the header that names the source, the status and the body.
  private func get(_ path: String) throws -> (source: String?, status: String, body: Data) {
    let outcome = try Program.run(
      "curl", ["-s", "-D", "head", "-o", "body", "http://127.0.0.1:\(port.number)\(path)"],
      in: scene)
    #expect(outcome.status == 0, "\(outcome.talk)")
    let head = String(decoding: try scene.read("head"), as: UTF8.self).split(separator: "\r\n")
    let source = head.first { $0.hasPrefix("X-Cache: ") }.map { String($0.dropFirst(9)) }
    return (source, String(head.first?.split(separator: " ")[1] ?? ""), try scene.read("body"))
  }

  @Test func `asks the origin once, whichever process is asked, and loses no byte`() throws {
    let first = try get("/page")
    #expect(first.source == "origin" && first.body == Origin.body(of: "/page"))
    var sources: Set<String?> = []
    for _ in 1...24 {
      let next = try get("/page")
      #expect(next.body == first.body)
      sources.insert(next.source)
    }
    // A process that did not fetch the page itself found it on disk first.
    #expect(sources.isSubset(of: ["memory", "disk"]) && sources.contains("disk"))
    #expect(origin.count(of: "/page") == 1)
  }

  @Test func `fetches a page at most once a process for many who want it at once`() throws {
    let wanted = (1...20).flatMap { ["-o", "body\($0)", "http://127.0.0.1:\(port.number)/rush"] }
    #expect(try Program.run("curl", ["-s", "-Z"] + wanted, in: scene).status == 0)
    for number in 1...20 {
      #expect(try scene.read("body\(number)") == Origin.body(of: "/rush"))
    }
    #expect((1...3).contains(origin.count(of: "/rush")))
  }

  @Test func `keeps neither failures nor what the origin says not to`() throws {
    for path in ["/missing", "/private"] {
      for _ in 1...2 {
        let answer = try get(path)
        #expect(answer.source == "origin" && answer.body == Origin.body(of: path))
        #expect(answer.status == (path == "/missing" ? "404" : "200"))
      }
      #expect(origin.count(of: path) == 2)
    }
  }

  @Test func `asks about an expired page by its ETag, and moves no byte for a 304`() throws {
    _ = try get("/page")
    let directory = scene.root.path + "/cache"
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: directory).first { $0.count == 32 })
    let path = "\(directory)/\(name)"
    let file = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    // Expired by hand; the processes learn of it within 50 ms.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: path)
    var bodies: Set<Data> = []
    try eventually("a conditional request") { () throws in
      bodies.insert(try get("/page").body)
      return origin.conditionalCount > 0
    }
    #expect(bodies == [Origin.body(of: "/page")])
    #expect(
      try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == file)
    #expect(origin.count(of: "/page") == 1 + origin.conditionalCount)
  }

  @Test func `goes on serving when processes are killed`() throws {
    _ = try get("/page")
    for worker in workers.dropLast() {
      kill(worker.processIdentifier, SIGKILL)
      worker.waitUntilExit()
    }
    #expect(try get("/page").body == Origin.body(of: "/page"))
    #expect(origin.count(of: "/page") == 1)
  }
}
