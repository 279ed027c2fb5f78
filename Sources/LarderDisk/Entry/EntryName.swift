package import LarderBasics
package import LarderDigest
package import LarderSystem
import Synchronization

/// The file name of an entry: 32 lower-case hexadecimal digits, and an extension or none.
///
/// The full name is an entry's identity; two extensions of one digest are two entries.
package struct EntryName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The MD5 of the key. It only names the file; the attribute proves which key the file is of.
  package let digest: MD5Digest
  package let fileExtension: FileExtension

  package init(digest: MD5Digest, fileExtension: FileExtension) {
    self.digest = digest
    self.fileExtension = fileExtension
  }

  /// Compares names by their bytes. Entries of the same last access go in this order.
  package static func < (a: EntryName, b: EntryName) -> Bool {
    a.digest == b.digest ? a.fileExtension < b.fileExtension : a.digest < b.digest
  }

  /// Makes the name of a key's entry.
  package init(_ key: CacheKey, fileExtension: FileExtension = .none) {
    self.init(digest: key.withBytes { MD5.digest(of: $0) }, fileExtension: fileExtension)
  }

  /// Reads a file's name; nil if it is not an entry's.
  package init?(_ text: some Collection<UInt8>) {
    guard text.count <= FileName.maximumCount, !text.contains(0) else { return nil }
    var name = FileName()
    for byte in text { name.append(byte) }
    self.init(name)
  }

  /// Reads a file's name; nil if it is not the name of an entry.
  package init?(_ name: FileName) {
    // The length alone rejects nearly every foreign name without looking at a byte. 33 bytes would
    // end in a dot with nothing after it.
    guard name.count == 32 || (34...53).contains(name.count) else { return nil }
    guard let high = Hexadecimal.word(ofPacked: name.packed(at: 0), name.packed(at: 8)),
      let low = Hexadecimal.word(ofPacked: name.packed(at: 16), name.packed(at: 24))
    else { return nil }
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

  /// 64 bits of the hash, where two names may count as one.
  var shortHash: UInt64 { digest.low }

  /// The name as the file system has it.
  ///
  /// - Complexity: O(1); allocates nothing.
  package var fileName: FileName {
    var name = FileName(
      packed: Self.digits(digest.high &>> 32), Self.digits(digest.high),
      Self.digits(digest.low &>> 32), Self.digits(digest.low))
    guard fileExtension != .none else { return name }
    name.append(UInt8(ascii: "."))
    for byte in fileExtension.bytes { name.append(byte) }
    return name
  }

  /// Returns the digits of the lower half of a word.
  private static func digits(_ word: UInt64) -> UInt64 {
    Hexadecimal.packedDigits(of: UInt32(truncatingIfNeeded: word))
  }

  package var description: String { fileName.text }
}

/// A key and the name that it has in one cache.
package struct Subject: Sendable {
  package let key: CacheKey
  package let name: EntryName
}

/// The name of a write in progress: `.larder-<pid>-<serial>`.
///
/// A name is reused when its file has got its own name or is gone. So a directory sees few of these
/// names, and their places in it stay cached. With a new name for each write, storing over a value
/// took 1.13 of the time.
///
/// On a network file system no name is used twice. A scan on another machine may have opened the
/// first file of a name, whose lock is free once it is published. MooseFS's cache of a second shows
/// it still, and the scan would remove the next one.
struct TemporaryName: Sendable {
  let fileName: FileName
  private let isReusable: Bool
  // A child that was forked meanwhile must not write under this name.
  private let forkCount = ProcessIdentity.forkCount

  // All caches of the process share the names, because two engines may use one directory for a
  // moment. A forked child begins again, because its names have its process ID.
  private static let names = PerProcess { ForkSafeMutex(Names()) }

  private struct Names {
    var free: [FileName] = []
    /// The last new serial. It begins anywhere, because processes on two machines can have one
    /// process ID, as in containers.
    var last = UInt64.random(in: 1..<1 << 32) << 20

    mutating func next(isFresh: Bool) -> FileName {
      if !isFresh, let name = free.popLast() { return name }
      last += 1
      var name = FileName(".larder-")
      name.append("\(ProcessIdentity.pid)-\(last)")
      return name
    }
  }

  /// Creates a name that no other write of this process has.
  ///
  /// - Parameter handle: The directory in which a file gets the name.
  init(in handle: DirectoryHandle) {
    let isReusable = !handle.fileSystem.isNetwork
    fileName = Self.names.own.value.withLock { $0.next(isFresh: !isReusable) }
    self.isReusable = isReusable
  }

  /// Gives a file a name that no other file has.
  ///
  /// A process in another namespace may share the directory and this process's number, so the next
  /// name is tried if one is taken.
  ///
  /// - Parameter give: Gives the file a name, and throws `.fileExists` if another file has it.
  static func taken(
    in handle: DirectoryHandle, _ give: (FileName) throws(Errno) -> Void
  ) throws(Errno) -> TemporaryName {
    while true {
      let name = TemporaryName(in: handle)
      do throws(Errno) {
        try give(name.fileName)
        return name
      } catch .fileExists {
        // The name is not used again.
      } catch {
        name.giveBack()
        throw error
      }
    }
  }

  /// Removes the file that has the name, if a look at it shows what is meant.
  ///
  /// - Returns: Whether it was removed.
  @discardableResult
  func remove(
    in handle: DirectoryHandle, if isMeant: (FileStatus) -> Bool = { _ in true }
  ) throws(Errno) -> Bool {
    guard try handle.remove(fileName, if: isMeant) == nil else { return false }
    giveBack()
    return true
  }

  /// Gives the name back, when no file has it any more, if it can be used again.
  ///
  /// Not given back if another process's file turned out to have it: it would be tried for ever.
  func giveBack() {
    guard isReusable, forkCount == ProcessIdentity.forkCount else { return }
    Self.names.own.value.withLock { $0.free.append(fileName) }
  }
}
