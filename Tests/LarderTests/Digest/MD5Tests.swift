import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct MD5Tests {
  /// RFC 1321, appendix A.5.
  static let published = [
    ("", "d41d8cd98f00b204e9800998ecf8427e"),
    ("a", "0cc175b9c0f1b6a831c399e269772661"),
    ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
    (
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      "d174ab98d277d9f5a5611c2c9f419d9f"
    ),
    (
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "57edf4a22be3c955ac49da2e2107b67a"
    ),
  ]

  @Test(arguments: published)
  func `the vectors of RFC 1321 hold`(message: String, digest: String) {
    #expect(MD5.digest(of: message).text == digest)
  }

  @Test
  func `a slice at an odd address has the digest of its copy`() {
    var generator = SeededRandom(seed: 7)
    let message = generator.bytes(count: 200)
    for start in 0..<9 {
      let copy = Array(message[start...])
      let slice = MD5.digest(of: message.span.extracting(start..<message.count))
      #expect(slice == MD5.digest(of: copy))
    }
  }

  @Test(.watched)
  func `random keys are named as md5sum names them`() throws {
    var generator = SeededRandom(seed: 10_000)
    let keys = (0..<rounds(1_000)).map { _ in
      generator.bytes(count: Int.random(in: 0...300, using: &generator))
    }
    let names = try md5sums(of: keys)
    try #require(names.count == keys.count)
    for (key, name) in zip(keys, names) {
      #expect(MD5.digest(of: key).text == name, "\(key.count) bytes")
    }
  }

  /// Writes each message to a file, runs `md5sum` once on all, and returns its digests in order.
  private func md5sums(of messages: [[UInt8]]) throws -> [String] {
    let folder = try TemporaryDirectory()
    defer { withExtendedLifetime(folder) {} }
    let directory = URL(filePath: folder.path)
    let names = messages.indices.map { String($0) }
    for (name, message) in zip(names, messages) {
      try Data(message).write(to: directory.appendingPathComponent(name))
    }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["md5sum"] + names
    process.currentDirectoryURL = directory
    process.standardOutput = output
    try process.run()
    let printed = process.waitPatiently {
      let printed = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return printed
    }
    let text = String(decoding: printed, as: UTF8.self)
    try #require(process.terminationStatus == 0)
    return text.split(separator: "\n").map { String($0.prefix(32)) }
  }
}
