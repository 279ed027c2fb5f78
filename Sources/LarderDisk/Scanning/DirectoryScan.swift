package import LarderSystem

/// A walk through a directory that reads the names and their status in pieces.
package struct DirectoryScan: ~Copyable {
  private var stream: DirectoryStream
  private let handle: DirectoryHandle
  private let trust: EntryTrust
  private let generations: EntryGenerations?

  /// The names of one step of a walk, sorted by kind.
  package struct Piece: Sendable {
    /// The names that look like entries, if no status was to be read.
    package fileprivate(set) var names: [EntryName] = []
    package fileprivate(set) var entries: [IndexedEntry] = []
    /// The generation of each entry from before its status was read, if the scan was given any.
    fileprivate(set) var generations: [EntryGenerations.Snapshot?] = []
    package fileprivate(set) var temporaries: [FileName] = []
    /// The names of other things; nil for one that is too long to be the cache's.
    package fileprivate(set) var foreign: [FileName?] = []
    /// The entries whose status could not be read, with the error.
    fileprivate(set) var unreadable: [(name: EntryName, errno: Errno)] = []
    package fileprivate(set) var isLast = false
  }

  /// The number of names per piece.
  package static let pieceCount = 512

  /// Starts at the first name, in the system's order.
  init(
    _ handle: DirectoryHandle, trust: EntryTrust, _ generations: EntryGenerations? = nil
  ) throws(Errno) {
    (self.handle, self.trust, self.generations) = (handle, trust, generations)
    stream = try DirectoryStream(handle.reopen())
  }

  /// Reads the next names, and their status if asked to, and sorts them by kind.
  ///
  /// - Throws: The error of `readdir` or `fstatat`. The pieces before it stand; the walk is over.
  mutating func next(
    atMost count: Int = pieceCount, readsStatus: Bool = true
  ) throws(Errno) -> Piece {
    var piece = Piece()
    for _ in 0..<count {
      guard let found = try stream.next() else {
        piece.isLast = true
        break
      }
      guard case .name(let fileName) = found else {
        piece.foreign.append(nil)
        continue
      }
      if let name = EntryName(fileName) {
        if !readsStatus { piece.names.append(name) }
        if readsStatus { try look(at: name, fileName, into: &piece) }
      } else if fileName.isTemporary {
        // Its status is not read. Only an attempt to lock it shows whether it was left behind.
        piece.temporaries.append(fileName)
      } else if !fileName.hasPrefix("CACHEDIR.TAG") || fileName.count > 12 {
        piece.foreign.append(fileName)
      }
    }
    return piece
  }

  /// Reads the status of some names.
  func look(at names: [EntryName]) throws(Errno) -> Piece {
    var piece = Piece()
    for name in names { try look(at: name, name.fileName, into: &piece) }
    return piece
  }

  /// Adds a file with an entry's name to a piece. If its status cannot be read for a reason that
  /// concerns it alone, the walk goes on without it.
  private func look(
    at name: EntryName, _ fileName: FileName, into piece: inout Piece
  ) throws(Errno) {
    let generation = generations?.snapshot(of: name)
    do throws(Errno) {
      // Without a status the file was removed after its name was read.
      guard let status = try handle.statusIfPresent(of: fileName) else { return }
      if let entry = trust.entry(name, status) {
        piece.entries.append(entry)
        piece.generations.append(generation)
      } else {
        piece.foreign.append(fileName)
      }
    } catch {
      guard EntryReader.concernsOneEntry(error, in: handle) else { throw error }
      piece.unreadable.append((name, error))
    }
  }
}

extension FileName {
  /// Whether the name is that of a write in progress: `.larder-<pid>-<serial>`.
  package var isTemporary: Bool {
    guard hasPrefix(".larder-") else { return false }
    // The prefix has eight bytes. Of the rest, one is a hyphen and no other but a digit.
    let rest = text.utf8.dropFirst(8)
    return rest.filter { !$0.isDigit } == [UInt8(ascii: "-")]
  }
}
