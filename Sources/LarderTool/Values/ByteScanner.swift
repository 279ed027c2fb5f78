/// A place in a text of bytes from which numbers and words are taken, front to back.
struct ByteScanner: Sendable {
  private(set) var rest: ArraySlice<UInt8>

  /// Stands at the beginning of a text.
  init(_ bytes: some Sequence<UInt8>) {
    rest = ArraySlice(bytes)
  }

  /// Whether nothing is left.
  var isAtEnd: Bool { rest.isEmpty }

  /// Takes one given byte, and tells whether it was there.
  mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: byte) else { return false }
    rest.removeFirst()
    return true
  }

  /// Takes the longest run of decimal digits, which may be empty, as numbers 0 to 9.
  mutating func digits() -> [UInt8] {
    run { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.map { $0 - UInt8(ascii: "0") }
  }

  /// Takes the longest run of ASCII letters, which may be empty, as text.
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
