import LarderDigest
package import LarderSystem

extension EntryName {
  /// Reads a file's name; nil when it is not that of an entry.
  package init?(_ name: FileName) {
    // By length first, which turns nearly every foreign name away without looking at a byte. 33
    // would be a dot with nothing after it.
    guard name.count == 32 || (34...53).contains(name.count) else { return nil }
    guard let high = Self.word(name, at: 0), let low = Self.word(name, at: 16) else { return nil }
    digest = MD5Digest(high: high, low: low)
    guard name.count > 32 else {
      fileExtension = .none
      return
    }
    guard name[32] == UInt8(ascii: "."),
      let suffix = FileExtension((33..<name.count).lazy.map { name[$0] })
    else { return nil }
    fileExtension = suffix
  }

  /// The name as the file system has it.
  ///
  /// - Complexity: O(1); allocates nothing.
  package var fileName: FileName {
    var name = FileName()
    Self.append(digest.high, to: &name)
    Self.append(digest.low, to: &name)
    guard fileExtension != .none else { return name }
    name.append(UInt8(ascii: "."))
    for index in 0..<FileExtension.maximumCount {
      let byte = fileExtension.byte(at: index)
      if byte == 0 { break }
      name.append(byte)
    }
    return name
  }

  private static func append(_ word: UInt64, to name: inout FileName) {
    name.append(packed: Hexadecimal.packedDigits(of: UInt32(truncatingIfNeeded: word &>> 32)))
    name.append(packed: Hexadecimal.packedDigits(of: UInt32(truncatingIfNeeded: word)))
  }

  private static func word(_ name: FileName, at start: Int) -> UInt64? {
    guard let high = Hexadecimal.half(ofPacked: name.packed(at: start)),
      let low = Hexadecimal.half(ofPacked: name.packed(at: start + 8))
    else { return nil }
    return UInt64(high) << 32 | UInt64(low)
  }
}

extension EntryName: CustomStringConvertible {
  package var description: String { fileName.text }
}
