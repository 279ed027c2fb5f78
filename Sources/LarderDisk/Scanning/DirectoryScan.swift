package import LarderSystem

/// A walk through a directory that reads the names and their status in pieces.
package struct DirectoryScan: ~Copyable {
  private var stream: DirectoryStream
  private let handle: DirectoryHandle
  private let trust: EntryTrust

  /// The names of one step of a scan, sorted by kind.
  struct Piece: Sendable {
    var entries: [IndexedEntry] = []
    var temporaries: [FileName] = []
    var foreignCount = 0
    /// The entries whose status could not be read, with the error.
    var unreadable: [(name: EntryName, errno: Errno)] = []
    var isLast = false
  }

  /// The number of names per piece.
  // The engine's lock is taken once per piece: often enough that no operation waits for a million
  // names, and seldom enough that the lock costs little beside 512 calls of fstatat.
  package static let pieceCount = 512

  /// The number of names per piece while callers read and store: merging them takes about 5 µs, for
  /// which a reader does not have to sleep.
  static let smallPieceCount = 4

  /// Starts at the first name, in the system's order.
  init(_ handle: DirectoryHandle, trust: EntryTrust) throws(Errno) {
    (self.handle, self.trust) = (handle, trust)
    stream = try DirectoryStream(handle.reopen())
  }

  /// Reads the next names and their status, and sorts them by kind.
  ///
  /// - Throws: The error of `readdir` or `fstatat`. The pieces before it stand; the scan is over.
  mutating func next(atMost count: Int = pieceCount) throws(Errno) -> Piece {
    let names = try nextNames(atMost: count)
    var piece = Piece()
    piece.entries.reserveCapacity(names.found.count)
    piece.foreignCount = names.foreignCount
    piece.isLast = names.isLast
    for name in names.found { try add(name, to: &piece) }
    return piece
  }

  /// Sorts one name: an entry, a write in progress, the tag, or foreign.
  private func add(_ fileName: FileName, to piece: inout Piece) throws(Errno) {
    if let name = EntryName(fileName) {
      try piece.add(name, fileName, in: handle, trust: trust)
    } else if fileName.isTemporary {
      // Its status is not read. Only an attempt to lock it shows whether it was left behind.
      piece.temporaries.append(fileName)
    } else if !fileName.isTag {
      piece.foreignCount += 1
    }
  }

  /// Reads the next names.
  ///
  /// - Throws: The error of `readdir`.
  package mutating func nextNames(atMost count: Int = pieceCount) throws(Errno) -> Names {
    var names = Names()
    names.found.reserveCapacity(count)
    for _ in 0..<count {
      switch try stream.next() {
      case .name(let name): names.found.append(name)
      case .longName: names.foreignCount += 1
      case nil:
        names.isLast = true
        return names
      }
    }
    return names
  }
}

extension DirectoryScan {
  /// Names whose status has not been read yet.
  package struct Names: Sendable {
    package var found: [FileName] = []
    /// The number of names that are too long to be the cache's.
    package var foreignCount = 0
    package var isLast = false
  }
}

extension DirectoryScan.Piece {
  /// Adds a file with an entry's name. If its status cannot be read for a reason that concerns it
  /// alone, the scan goes on without it.
  mutating func add(
    _ name: EntryName, _ fileName: FileName, in handle: DirectoryHandle, trust: EntryTrust
  ) throws(Errno) {
    do throws(Errno) {
      // Without a status the file was removed after its name was read.
      guard let status = try handle.statusIfPresent(of: fileName) else { return }
      if let entry = trust.entry(name, status) {
        entries.append(entry)
      } else {
        foreignCount += 1
      }
    } catch {
      guard EntryReader.concernsOneEntry(error, in: handle) else { throw error }
      unreadable.append((name, error))
    }
  }
}

extension FileName {
  /// Whether the name is that of a write in progress: `.larder-<pid>-<serial>`.
  package var isTemporary: Bool {
    guard hasPrefix(".larder-") else { return false }
    var hyphenCount = 0
    // The prefix has eight bytes.
    for index in 8..<count {
      if self[index] == UInt8(ascii: "-") {
        hyphenCount += 1
      } else if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[index]) {
        return false
      }
    }
    return hyphenCount == 1
  }

  /// Whether the name is that of the file that tells backups to skip the directory.
  package var isTag: Bool { count == DirectoryMaking.tagName.count && hasPrefix("CACHEDIR.TAG") }
}
