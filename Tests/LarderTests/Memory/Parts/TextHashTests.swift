import Testing

@testable import LarderMemory
@testable import LarderSystem

/// The hash of `String` keys in memory.
struct TextHashTests {
  @Test func `each character that is equivalent to ASCII has the hash of that`() {
    var ascii: [String: Int] = [:]
    for code in 0..<UInt8(0x80) {
      let text = String(UnicodeScalar(code))
      ascii[text] = TextHash.hash(text)
    }
    var found: Set<UInt32> = []
    for code in UInt32(0x80)...0x10ffff {
      // Whatever is equivalent to one other character is excluded from composition.
      guard let scalar = UnicodeScalar(code), scalar.properties.isFullCompositionExclusion
      else { continue }
      let text = String(scalar)
      // The dictionary finds what `==` unites.
      guard let hash = ascii[text] else { continue }
      #expect(TextHash.hash(text) == hash, "U+\(String(code, radix: 16))")
      found.insert(code)
    }
    #expect(found == [0x37e, 0x1fef, 0x212a])
  }

  @Test(arguments: [0, 1, 7, 8, 20, 200])
  func `equal texts have the same hash, in every spelling and length`(length: Int) {
    let start = String(repeating: "a", count: length)
    for spellings in [
      ["caf\u{e9}", "cafe\u{301}"], ["\u{212a}\u{301}", "K\u{301}", "\u{1e30}"],
      ["\u{212a}", "K"], ["\u{1fef}x\u{37e}", "`x;"], ["\u{ac00}", "\u{1100}\u{1161}"],
      ["\u{226e}", "<\u{338}"],
    ] {
      let hashes = Set(spellings.map { TextHash.hash(start + $0 + start) })
      #expect(Set(spellings).count == 1 && hashes.count == 1, "\(spellings)")
    }
  }

  @Test func `a byte beyond ASCII is seen at every place of every length`() {
    for count in 0...140 {
      let zeros = [UInt8](repeating: 0, count: count)
      #expect(ByteHash.hash(ofASCII: zeros.span) == ByteHash.hash(zeros.span))
      for index in 0..<count {
        var changed = zeros
        changed[index] = 0x80
        #expect(ByteHash.hash(ofASCII: changed.span) == nil, "byte \(index) of \(count)")
      }
    }
  }
}
