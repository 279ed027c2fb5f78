import Foundation
import LarderTestSupport
import Testing

@testable import CachingProxy

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
}

extension `The caching proxy` {
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

  /// Gets a page with `curl`. Returns whether it came from the cache, the status and the body.
  private func get(
    _ path: String, with fields: [String] = []
  ) throws -> (isHit: Bool, status: String, body: Data) {
    let outcome = try Program.run(
      "curl",
      ["-s", "-D", "head", "-o", "body", "http://127.0.0.1:\(port.number)\(path)"]
        + fields.flatMap { ["-H", $0] }, in: scene)
    #expect(outcome.status == 0, "\(outcome.talk)")
    let head = String(decoding: try scene.read("head"), as: UTF8.self).split(separator: "\r\n")
    let cacheStatus = try #require(head.first { $0.hasPrefix("Cache-Status: CachingProxy; ") })
    return (
      cacheStatus.contains("; hit;"), String(head.first?.split(separator: " ")[1] ?? ""),
      try scene.read("body")
    )
  }

  @Test func `asks the origin once, whichever process is asked, and loses no byte`() throws {
    let first = try get("/page")
    #expect(!first.isHit && first.body == Origin.body(of: "/page"))
    for _ in 1...24 {
      let next = try get("/page")
      #expect(next.isHit && next.body == first.body)
    }
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
        #expect(!answer.isHit && answer.body == Origin.body(of: path))
        #expect(answer.status == (path == "/missing" ? "404" : "200"))
      }
      #expect(origin.count(of: path) == 2)
    }
  }

  @Test(arguments: [
    "Cache-Control: no-cache", "Cache-Control: private", "cache-control:NO-STORE",
    "Cache-Control: max-age=100, s-maxage=0", "Cache-Control: max-age=0", "Set-Cookie: a=b",
    "Cache-Control: max-age=x", "Vary: *", "Cache-Control: max-age=60\r\nAge: 60",
    "Cache-Control: public\r\nCache-Control: private",
    "Cache-Control: no-cache=\"a, b\"", "Expires: 0", "Expires: 0\r\nSet-Cookie: a=b",
  ])
  func `gives no page unasked that a shared cache may not give`(header: String) throws {
    let text = try #require(
      (header + "\r\n").addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    for _ in 1...2 { #expect(try !get("/set/\(text)").isHit) }
    #expect(origin.count(of: "/set/\(text)") == 2)
  }

  @Test func `keeps a page for any number of seconds`() throws {
    for number in ["9223372036854775807", "9223372036854775808"] {
      let text = "Cache-Control:%20max-age=\(number)%0D%0AAge:%20-1%0D%0A"
      for _ in 1...2 { _ = try get("/set/\(text)") }
      #expect(origin.count(of: "/set/\(text)") == 1)
    }
  }

  @Test func `goes on when clients reset, send nothing, or send a part`() throws {
    let reset = linger(l_onoff: 1, l_linger: 0)
    for head in ["", "GET ", "GET /page"] + Array(repeating: "", count: 30) {
      let client = try Sockets.connect(to: port.number)
      try client.write(contentsOf: Data(head.utf8))
      unsafe withUnsafePointer(to: reset) {
        _ = unsafe setsockopt(
          client.fileDescriptor, SOL_SOCKET, SO_LINGER, $0,
          socklen_t(MemoryLayout<linger>.size))
      }
      try client.close()
    }
    // More than the threads of all processes.
    let idle = try (0..<200).map { _ in try Sockets.connect(to: port.number) }
    #expect(try get("/page").body == Origin.body(of: "/page"))
    #expect(workers.allSatisfy(\.isRunning) && idle.count == 200)
  }

  @Test func `answers no target of another form, and no request with a body`() throws {
    for head in ["GET page HTTP/1.1\r\n\r\n", "GET /page HTTP/1.1\r\nContent-Length: 1\r\n\r\na"] {
      let client = try Sockets.connect(to: port.number)
      try client.write(contentsOf: Data(head.utf8))
      // Closed, or reset because of what was not read.
      _ = Result { try client.readToEnd() }
    }
    #expect(origin.count(of: "page") == 0 && origin.count(of: "/page") == 0)
  }

  @Test func `asks about an old page by its ETag, and writes no byte of it for a 304`() throws {
    _ = try get("/page")
    let directory = scene.root.path + "/cache"
    func body() throws -> Int? {
      try FileManager.default.contentsOfDirectory(atPath: directory)
        .map { try FileManager.default.attributesOfItem(atPath: "\(directory)/\($0)") }
        .first { $0[.size] as? Int == 100_000 }?[.systemFileNumber] as? Int
    }
    let file = try #require(try body())
    let answer = try get("/page", with: ["Cache-Control: max-age=0"])
    #expect(!answer.isHit && answer.body == Origin.body(of: "/page"))
    #expect(origin.conditionalCount == 1 && origin.count(of: "/page") == 2)
    #expect(try body() == file)
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
