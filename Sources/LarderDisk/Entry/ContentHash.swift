package import LarderDigest
package import LarderSystem

/// The hash of an entry, by which damage is found: XXH64 of the content, then of the extended data.
/// Another algorithm is another type here, extended in the same way. The format then gets another
/// version as well, because the hashes of older files would not match: `EntryAttribute`, fixtures'
/// `FixtureLine` (both have 64 bits), `OnDiskFormat.md`.
///
/// | step | place |
/// |---|---|
/// | made | `StagedFile.write`, of each piece that is written; `copyContent`, of a copied file |
/// | recorded | `StagedFile.setAttributes`: in `user.larder`, as 11 characters of base64url |
/// | checked | `EntryReader.matches` below, which says when |
/// | compared without the content | `EntryIdentity`, before a touch |
/// | made anew | `HandStamp`, for `larder stamp`, and for fixtures that are packed or recorded |
package typealias ContentHash = XXH64

extension XXH64 {
  /// Reads a file from its present offset to its end, and hashes it.
  package init(ofRest file: borrowing FileDescriptor) throws(Errno) {
    self.init()
    // Most values are small, and a large piece takes longer to clear than a small value to read.
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = try file.read(into: &piece)
      if count == 0 { return }
      update(piece.span.extracting(..<count))
      // Large enough that calls cost next to nothing, small enough for a second-level cache.
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

// The check.
extension EntryReader {
  /// Whether a file's content and extended data are those that were stored.
  ///
  /// Called when this process first reads a state of a file (inode, change time), for a value or
  /// for a removal that returns it. In the mode `.fixture` never, by `DiskCache.verify` always.
  /// Returns true if no hash is recorded.
  ///
  /// Extended data that was not read is read only if the content alone does not have the recorded
  /// hash. If it has, none was stored with it.
  ///
  /// - Parameter content: Nil if the file is to be read in pieces, and rewound.
  /// - Complexity: O(bytes).
  static func matches(
    _ file: borrowing FileDescriptor, _ testimony: inout Testimony, _ content: [UInt8]? = nil
  ) throws(Errno) -> Bool {
    guard let contentHash = testimony.attribute?.contentHash else { return true }
    let hash = if let content { ContentHash(content.span) } else { try self.hash(of: file) }
    if content == nil { try file.seek(to: 0) }
    if testimony.extendedData == nil && hash.finalize() == contentHash {
      testimony.extendedData = []
      return true
    }
    let data = if let data = testimony.extendedData { data } else { try extendedData(of: file) }
    testimony.extendedData = data
    return hash.finalize(with: data) == contentHash
  }

  /// Returns the hash of a file's content from the present offset on.
  ///
  /// - Throws: `.noMemory`, as reading its value does, for a hole: a file too long for the memory,
  ///   with few blocks on the disk. `truncate` makes one of 2⁶³ bytes in no time, and reading it
  ///   takes years.
  package static func hash(of file: borrowing FileDescriptor) throws(Errno) -> ContentHash {
    let status = try file.status()
    // A file system compresses a value to no less than a thirtieth, unless it is all zeros.
    let isSparse = status.byteCount / 64 > status.allocatedByteCount
    if isSparse, !SystemEnvironment.mayHold(status.byteCount) { throw .noMemory }
    return try ContentHash(ofRest: file)
  }
}
