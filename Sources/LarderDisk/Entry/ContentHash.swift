package import LarderDigest
package import LarderSystem

/// The hash of an entry, by which damage is found: XXH64 of the content, then of the extended data.
/// `EntryAttribute` stores it in `user.larder` as 11 characters of base64url.
///
/// - `StagedFile` computes it while it writes, and `EntryWriter` records it.
/// - `EntryReader.matches` compares it: the first time that this process reads a state of a file,
///   in `verify` (`Verification`), and in a removal that returns the value.
/// - `EntryIdentity` compares it before a touch.
/// - `larder stamp` computes it anew (`HandStamp`), and fixtures are packed and
///   recorded with it.
package typealias ContentHash = XXH64

extension XXH64 {
  /// Creates the hash of content, or of its first piece.
  package init(_ content: Span<UInt8>) {
    self.init()
    update(content)
  }

  /// Reads a file from its present offset to its end, and hashes it.
  package init(ofRest file: borrowing FileDescriptor) throws(Errno) {
    self.init()
    // Most values are small, and a large piece takes longer to clear than a small value to read.
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = try file.read(into: &piece)
      if count == 0 { return }
      update(piece.span.extracting(..<count))
      // Large enough that the cost of the calls is negligible, small enough to stay in a
      // second-level cache.
      if piece.count == 16 << 10, count == piece.count {
        piece = [UInt8](repeating: 0, count: 256 << 10)
      }
    }
  }

  /// Returns the hash of the content so far, followed by extended data.
  package func finalize(with extendedData: [UInt8]) -> UInt64 {
    var hash = self
    hash.update(extendedData.span)
    return hash.finalize()
  }
}
