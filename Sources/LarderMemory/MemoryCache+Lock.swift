public import LarderBasics
public import LarderSystem
public import Synchronization

extension MemoryCache {
  /// Returns the hash of a key. That of a `String` is a faster one than the standard library's.
  @inlinable @inline(__always)
  static func hash(_ key: Key) -> Int {
    // Both are decided by the compiler where the cache is specialised for a type of key.
    if Key.self == String.self, let text = key as? String { return TextHash.hash(text) }
    return key.hashValue
  }

  /// Returns the half of a hash that a stripe's table keeps. The other half chooses the stripe.
  @inlinable @inline(__always)
  static func tag(_ hash: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: UInt(bitPattern: hash) &>> 32)
  }

  /// Calls a function with the stripe of a hash, under the stripe's lock.
  @inlinable @inline(__always)
  func withStripe<Result>(
    _ hash: Int, _ body: (inout sending LRU<Key, Value>) -> sending Result
  ) -> sending Result {
    // By the low bits: the table in a stripe uses the high ones, and each stripe sees all of those.
    withStripe(at: hash & stripeMask, body)
  }

  /// Calls a function with a stripe, under its lock.
  @inlinable @inline(__always)
  func withStripe<Result: ~Copyable>(
    at index: Int, _ body: (inout sending LRU<Key, Value>) -> sending Result
  ) -> sending Result {
    #if LARDER_HOLDS
      let start = HoldRecord.Start()
      defer { HoldRecord.memory.note(start, #fileID, #line) }
    #endif
    return stripes[index].withLock(body)
  }

  /// Returns the sum of a function's results over all stripes, each under its lock; `Int.max` if
  /// the sum is larger.
  @inlinable
  func sum(_ body: (inout sending LRU<Key, Value>) -> sending Int) -> Int {
    if isForked { return 0 }
    var sum = 0
    for index in 0...stripeMask {
      let (next, overflow) = sum.addingReportingOverflow(withStripe(at: index, body))
      sum = overflow ? .max : next
    }
    return sum
  }

  /// The time if a stripe may need it, else zero. Read without a lock: the clock may be a caller's.
  @inlinable @inline(__always)
  var timeIfKept: PackedTime { keepsTimes.load(ordering: .relaxed) ? now : .zero }

  /// Calls a function with the time, and again if the first value with a time came meanwhile.
  @inlinable
  func timed<Result>(_ body: (PackedTime) -> Result) -> Result {
    let time = timeIfKept
    let result = body(time)
    return time == .zero && keepsTimes.load(ordering: .relaxed) ? body(now) : result
  }

  /// Returns the time of a store; nil if no value can expire.
  @inlinable @inline(__always)
  func timeToStore(_ expiration: Expiration, _ ceiling: Timestamp?) -> Timestamp? {
    if case .never = expiration, ceiling == nil, !keepsTimes.load(ordering: .relaxed) { return nil }
    return configuration.clock.now()
  }

  /// Notes that stripes keep times from now on.
  @inlinable
  func noteTimes() {
    if !keepsTimes.load(ordering: .relaxed) { keepsTimes.store(true, ordering: .relaxed) }
  }

  /// The time as a stripe's lock allows; nil if the clock is the caller's, which may use the cache.
  ///
  /// Not inlined: the look for a hit, with it, would not be inlined either, which costs a tenth.
  @inlinable @inline(never)
  var timeUnderLock: PackedTime? { hasOwnClock ? nil : now }

  /// The time, whether or not a stripe needs it.
  @inlinable
  var now: PackedTime { PackedTime(configuration.clock.now()) }

  /// Whether there is a listener or a sequence for values that leave.
  @inlinable @inline(__always)
  var isHeard: Bool {
    configuration.removalListener != nil || observers.isObserved.load(ordering: .relaxed)
  }

  /// Reports removed entries to the listener and the sequences. Called without the lock.
  ///
  /// Values are released on return; if there are many, on another thread.
  @inlinable @inline(__always)
  package func finish(_ removals: inout Removals<Key, Value>) {
    guard removals.first != nil else { return }
    if isHeard { tell(of: removals) }
    if removals.rest.count >= Self.releaseLimit { release(&removals) }
  }

  /// Reports removed entries. Not inlined, because most caches have no listener.
  @inlinable @inline(never)
  func tell(of removals: Removals<Key, Value>) {
    removals.forEach { tell($0.key, $0.value, $0.cause) }
  }

  /// Reports a value that left to the listener, and then to the sequences.
  @usableFromInline
  func tell(_ key: Key, _ value: Value, _ cause: RemovalCause) {
    configuration.removalListener?(key, value, cause)
    if observers.isObserved.load(ordering: .relaxed) {
      observers.tell(RemovalEvent(key: key, value: value, cause: cause))
    }
  }
}

/// A hash of texts that compare equal if they are canonically equivalent, such as composed and
/// decomposed "é".
///
/// Texts of ASCII are equal if their bytes are, so those are hashed as the bytes of a `CacheKey`
/// are: 60 of them take 7 ns, with the standard library's hash 38 ns.
@usableFromInline
enum TextHash {
  /// Returns the hash of a text.
  @usableFromInline
  static func hash(_ text: String) -> Int {
    text.withByteSpan { ByteHash.hash(ofASCII: $0) } ?? hash(beyondASCII: text)
  }

  /// Returns the hash of a text with other characters than ASCII: that of the equivalent ASCII if
  /// there is any, else the standard library's.
  ///
  /// Three characters are canonically equivalent to ASCII, and a text with any other character
  /// beyond ASCII is not. See: UnicodeData.txt, field 5; the Unicode stability policy keeps it so.
  @inline(never)
  private static func hash(beyondASCII text: String) -> Int {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\u{37e}": bytes.append(UInt8(ascii: ";"))
      case "\u{1fef}": bytes.append(UInt8(ascii: "`"))
      case "\u{212a}": bytes.append(UInt8(ascii: "K"))
      default:
        guard scalar.isASCII else { return text.hashValue }
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      }
    }
    return ByteHash.hash(bytes.span)
  }
}
