import LarderSystem

/// Reads a directory's names and their status, in pieces.
package struct DirectoryScan: ~Copyable {
  private var stream: DirectoryStream
  /// What looks at the names.
  let look: Look

  /// What a scan met since it was last asked.
  struct Piece: Sendable {
    var entries: [IndexedEntry] = []
    var temporaries: [FileName] = []
    var foreignCount = 0
    /// Names of entries whose status the system would not tell, and why.
    var unreadable: [(name: EntryName, errno: Errno)] = []
    var isLast = false
  }

  /// Names per piece.
  // The engine's lock is taken once per piece: often enough that no operation waits behind a
  // million names, and seldom enough that the lock costs nothing beside 512 calls of fstatat.
  private static let pieceCount = 512

  /// Starts at the first name, in the system's order.
  init(_ handle: DirectoryHandle, trust: EntryTrust) throws(Errno) {
    look = Look(handle: handle, trust: trust)
    stream = try DirectoryStream(handle.reopen())
  }

  /// Reads on, up to a few hundred names, and asks for their status.
  ///
  /// - Throws: What `readdir` or `fstatat` say. The pieces before it stand; the scan is over.
  mutating func next() throws(Errno) -> Piece {
    try look.piece(of: nextNames())
  }

  /// Reads on, up to a few hundred names.
  ///
  /// - Throws: What `readdir` says.
  mutating func nextNames() throws(Errno) -> Names {
    var names = Names()
    names.found.reserveCapacity(Self.pieceCount)
    for _ in 0..<Self.pieceCount {
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
  /// Names that were read and not looked at yet.
  package struct Names: Sendable {
    var found: [FileName] = []
    /// Names too long for any of the cache's.
    var foreignCount = 0
    var isLast = false
  }

  /// What looking at names takes; any thread can do it.
  struct Look: Sendable {
    let handle: DirectoryHandle
    let trust: EntryTrust

    /// Asks for the status of names.
    ///
    /// - Throws: What `fstatat` says.
    func piece(of names: Names) throws(Errno) -> Piece {
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
        // Not asked for its status: whether it is left over shows when somebody can lock it.
        piece.temporaries.append(fileName)
      } else if !fileName.isTag {
        piece.foreignCount += 1
      }
    }
  }
}

extension DirectoryScan.Piece {
  /// Adds what has an entry's name. One that cannot be looked at is passed over: the others must
  /// not suffer from it.
  mutating func add(
    _ name: EntryName, _ fileName: FileName, in handle: DirectoryHandle, trust: EntryTrust
  ) throws(Errno) {
    do throws(Errno) {
      let status = try handle.status(of: fileName)
      if status.isRegular && trust.isTrusted(status) {
        entries.append(IndexedEntry(name: name, status: status))
      } else {
        foreignCount += 1
      }
    } catch .noSuchFile, .staleHandle {
      // It has gone since it was read.
    } catch {
      guard EntryReader.concernsOneEntry(error, in: handle) else { throw error }
      unreadable.append((name, error))
    }
  }
}

extension FileName {
  /// Whether the name is that of a write in progress: `.larder-<pid>-<serial>`.
  var isTemporary: Bool {
    guard hasPrefix(".larder-") else { return false }
    var hyphenCount = 0
    // After the prefix of eight bytes.
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
  var isTag: Bool { count == DirectoryMaking.tagName.count && hasPrefix("CACHEDIR.TAG") }
}
