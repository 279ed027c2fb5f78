// A cache on each machine, a Redis that all machines share, and the origin behind both.
//
// usage: redis-loader DIRECTORY PORT ORIGIN KEY…
//
// ORIGIN is a directory of files that represents a slow source. For each KEY the program prints the
// source of its value. Without Redis the program is slower but works, because the loader asks the
// origin itself.

import Foundation
import Larder
import Synchronization

guard CommandLine.arguments.count > 4, let port = UInt16(CommandLine.arguments[2]) else {
  fatalError("usage: redis-loader DIRECTORY PORT ORIGIN KEY…")
}
let arguments = CommandLine.arguments
let origin = arguments[3]
let redis = Redis(port: port)
let cache = try Cache(directory: arguments[1], coder: .bytes)

for key in arguments[4...] {
  let source = Mutex("cache")
  let clock = ContinuousClock()
  let start = clock.now
  // Only one task of this process runs the closure, even if many tasks ask at once. A change of the
  // origin goes unseen for the service's life and this one, which is the shorter.
  let value = try await cache.value(forKey: key, expiration: .seconds(60)) {
    if let value = await redis.value(forKey: key) {
      source.withLock { $0 = "service" }
      return value
    }
    source.withLock { $0 = "origin" }
    let value = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(origin)/\(key)")))
    await redis.store(value, forKey: key, seconds: 600)
    return value
  }
  print("\(key): \(value.count) bytes from \(source.withLock { $0 }) in \(clock.now - start)")
}
try cache.close()
