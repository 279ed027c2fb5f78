import Larder
import LarderDigest

/// A value that contains its key, length, expiry and hash, so that a reader can check whether it is
/// complete and under its own key.
struct StressValue {
  /// The kind of expiry; the raw value is part of the bytes.
  enum Validity: UInt64 {
    case never
    case seconds
    case date
  }

  /// The fault of bytes that were read under a key.
  enum Fault: String {
    case torn
    case wrongKey
    case stale
    case foreignExpiry
  }

  let key: UInt64
  let version: UInt64
  /// The process and thread that stored it.
  let writer: UInt64
  let validity: Validity
  /// The lifetime in seconds; 0 for the other kinds of expiry.
  let lifetime: Int64
  /// The time of creation, before the store began.
  let made: Timestamp
  /// The expiry given as a date.
  let date: Timestamp

  static let magic: UInt64 = 0x6c61_7264_6572_0a01
  private static let headerCount = 12
  /// The bytes before the filling.
  static let headerByteCount = headerCount * 8

  /// The expiration for the store.
  var expiration: Expiration {
    switch validity {
    case .never: .never
    case .seconds: .seconds(Int(lifetime))
    case .date: .date(date)
    }
  }

  /// Returns the value's bytes, with a filling of some length.
  func bytes(fillingCount: Int) -> [UInt8] {
    let byteCount = Self.headerByteCount + fillingCount
    var random = SeededRandom(seed: key &* 31 &+ version &* 17 &+ writer)
    let filling = [UInt8](capacity: fillingCount) { output in
      while output.count < fillingCount {
        withUnsafeBytesOfWord(random.next(), fillingCount - output.count) { output.append($0) }
      }
    }
    let words: [UInt64] = [
      Self.magic, key, version, writer, UInt64(byteCount), validity.rawValue,
      UInt64(bitPattern: lifetime), UInt64(bitPattern: made.seconds), UInt64(made.nanoseconds),
      UInt64(bitPattern: date.seconds), UInt64(date.nanoseconds),
    ]
    var bytes = words.flatMap(Self.bytes(of:)) + filling
    let hash = XXH64(bytes.span).finalize()
    bytes.insert(contentsOf: Self.bytes(of: hash), at: words.count * 8)
    return bytes
  }

  private func withUnsafeBytesOfWord(_ word: UInt64, _ most: Int, _ body: (UInt8) -> Void) {
    for shift in 0..<min(8, most) { body(UInt8(truncatingIfNeeded: word >> (8 * UInt64(shift)))) }
  }

  private static func bytes(of word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
  }
}

extension StressValue {
  /// Parses bytes. Returns nil if they are no complete value.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.headerByteCount else { return nil }
    func word(_ index: Int) -> UInt64 {
      (0..<8).reduce(0) { $0 | UInt64(bytes[index * 8 + $1]) << UInt64(8 * $1) }
    }
    guard word(0) == Self.magic, word(4) == bytes.count, let validity = Validity(rawValue: word(5))
    else { return nil }
    let hashed = bytes[..<(Self.headerByteCount - 8)] + bytes[Self.headerByteCount...]
    guard XXH64(Array(hashed).span).finalize() == word(11) else { return nil }
    (key, version, writer) = (word(1), word(2), word(3))
    self.validity = validity
    lifetime = Int64(bitPattern: word(6))
    made = Timestamp(seconds: Int64(bitPattern: word(7)), nanoseconds: Int64(word(8)))
    date = Timestamp(seconds: Int64(bitPattern: word(9)), nanoseconds: Int64(word(10)))
  }

  /// Returns the fault of the bytes that a read returned; nil if there is none.
  ///
  /// - Parameter time: A time before the read began.
  static func fault(in bytes: [UInt8], of key: UInt64, readAt time: Timestamp) -> Fault? {
    guard let value = StressValue(bytes) else { return .torn }
    if value.key != key { return .wrongKey }
    // The memory tier uses the coarse clock, which may lag by a tick.
    let limit = value.date.adding(.milliseconds(20))
    return value.validity == .date && limit <= time ? .stale : nil
  }

  /// Whether a file's modification time is a possible expiry of this value.
  ///
  /// - Parameter isCoarse: Whether the file system may hold whole seconds of 32 bits only.
  func admits(expiry: Timestamp, at now: Timestamp, isCoarse: Bool) -> Bool {
    let (earlier, latest) =
      isCoarse ? (Int64(-1), Int64(1) << 31 - 1) : (0, Timestamp.never.seconds)
    switch validity {
    case .never: return expiry.seconds >= latest
    case .date: return date.adding(seconds: earlier) <= expiry && expiry <= date
    case .seconds:
      return made.adding(seconds: lifetime + earlier) <= expiry
        && expiry <= now.adding(seconds: lifetime)
    }
  }
}
