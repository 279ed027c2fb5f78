// usage: shared-tier LOCAL SHARED ORIGIN KEY… (ORIGIN: a directory of files, as a slow source)
import Foundation
import Larder
import Synchronization

let arguments = CommandLine.arguments
guard arguments.count > 4 else { fatalError("usage: shared-tier LOCAL SHARED ORIGIN KEY…") }
let patience = ProcessInfo.processInfo.environment["SHARED_TIER_PATIENCE"].flatMap { Int($0) } ?? 2
let shared = SharedTier(directory: arguments[2], patience: .seconds(patience))
let local = try Cache(directory: arguments[1], coder: .bytes)
for key in arguments[4...] {
  let source = Mutex("local")
  let start = ContinuousClock.now
  let value = try await local.value(forKey: CacheKey(key), expiration: .seconds(600)) {
    let (value, from) = try await shared.value(forKey: key) {
      try await Task.sleep(for: .milliseconds(20))
      return try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(arguments[3])/\(key)")))
    }
    source.withLock { $0 = from.rawValue }
    return value
  }
  print(
    "\(key): \(value.count) bytes from \(source.withLock { $0 }) in \(ContinuousClock.now - start)")
}
try local.close()
