import Foundation
import LarderTestSupport
import Testing

@testable import CachingProxy

/// The loader beside a server that is no Redis.
@Suite(.watched)
struct `The loader through Redis` {}

extension `The loader through Redis` {
  @Test(arguments: [
    "$9223372036854775807\r\nx\r\n", "$-9223372036854775808\r\n", "$99999999999999999999\r\n",
    "$-1\r\n", "$\r\n", "$5\r\nx", "\r\n", "",
  ])
  func `asks the origin when the answer is none`(answer: String) throws {
    let scene = try Scene()
    let listener = try Sockets.listen(on: 0, patience: 3600)
    let port = try LoopbackPort.number(of: listener)
    Thread.detachNewThread {
      do {
        while true {
          let client = try Sockets.accept(listener)
          _ = try Sockets.receive(client)
          try client.write(contentsOf: Data(answer.utf8))
        }
      } catch {
        // The end of the test shuts the listener down.
      }
    }
    defer { shutdown(listener.fileDescriptor, Int32(SHUT_RDWR)) }
    try scene.write("value".utf8, to: "k")
    let outcome = try Program("RedisLoader").run(
      [scene.root.path + "/cache", "\(port)", scene.root.path, "k"], in: scene)
    #expect(outcome.status == 0 && outcome.output.hasPrefix("k: 5 bytes from origin"))
  }
}
