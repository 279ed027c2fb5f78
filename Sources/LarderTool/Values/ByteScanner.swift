/// A scanner that takes numbers and words from bytes, front to back.
struct ByteScanner: Sendable {
  private(set) var rest: ArraySlice<UInt8>

  /// Creates a scanner at the beginning of some bytes.
  init(_ bytes: some Sequence<UInt8>) {
    rest = ArraySlice(bytes)
  }

  /// Whether nothing is left.
  var isAtEnd: Bool { rest.isEmpty }

  /// Takes the next byte if it is the given one, and returns whether it was.
  mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: byte) else { return false }
    rest.removeFirst()
    return true
  }

  /// Takes the longest run of decimal digits, which may be empty. Returns their values, 0 to 9.
  mutating func digits() -> [UInt8] {
    run { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.map { $0 - UInt8(ascii: "0") }
  }

  /// Takes the longest run of ASCII letters, which may be empty. Returns them as text.
  mutating func letters() -> String {
    let letters = run { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
    return String(decoding: letters, as: UTF8.self)
  }

  private mutating func run(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let run = rest.prefix(while: belongs)
    rest = rest.dropFirst(run.count)
    return run
  }
}
