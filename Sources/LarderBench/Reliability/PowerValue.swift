import Larder

/// The value that belongs to a key and a version, made anew by whoever judges.
struct PowerValue {
  let bytes: [UInt8]
  /// An eighth of the values has some.
  let extendedData: [UInt8]

  /// Makes the value: up to 16 KiB, one in sixteen of them empty.
  init(key: String, version: Int) {
    let seed = XXH64.digest(of: Array("\(key) \(version)".utf8).span)
    var random = StressRandom(seed: seed)
    let byteCount = seed % 16 == 0 ? 0 : Int(random.next() % 16_384)
    bytes = [UInt8](capacity: byteCount) { output in
      while output.count < byteCount {
        let word = random.next()
        for shift in 0..<min(8, byteCount - output.count) {
          output.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(shift))))
        }
      }
    }
    extendedData = seed % 8 == 1 ? Array("\(key) \(version)".utf8) : []
  }
}
