@testable import Larder
@testable import LarderSystem

// Sequences of operations, compared with the naive model of the tests, with a manual clock and with
// failures.
func fuzz(_ bytes: [UInt8]) {
  withDirectory { path in
    let mayFail = bytes.first.map { $0 & 1 == 1 } ?? false
    var run = try DiskModelRun(
      path: path, random: ByteRandom(Array(bytes.dropFirst())), mayFail: mayFail)
    // An operation takes a handful of bytes.
    for _ in 0..<min(64, bytes.count / 4) { try run.step() }
    try run.end()
  }
}
