package import LarderBasics
import LarderDigest
package import LarderSystem

/// Opens and checks one entry's file. It decides nothing that lasts: what a result means for the
/// index and the statistics is the engine's business.
package struct EntryReader: Sendable {
  package let trust: EntryTrust
  /// False for a fixture, whose files are edited by hand and checked in.
  let checksContent: Bool
  /// Whether a file that does not say its key is a miss.
  let requireProof: Bool

  /// Settles who is trusted once: user and owner as of the opening.
  init(_ configuration: DiskCache.Configuration, _ location: DirectoryLocation) {
    let handle = location.handle
    trust = EntryTrust(
      user: ProcessIdentity.user, directoryOwner: handle.owner,
      group: configuration.sharesWithGroup ? handle.group : nil,
      enforcesExpiry: configuration.mode != .fixture, longest: configuration.longestEntry)
    checksContent = configuration.mode != .fixture
    requireProof = configuration.requireProof
  }

  /// Makes a reader for the entries of a fixture: it compares proofs and contents with the lines of the
  /// manifest, and refuses a file that is longer than a cache with the default limit holds.
  package init(forFixtureIn handle: DirectoryHandle) {
    let standard = DiskCache.Configuration()
    trust = EntryTrust(
      user: ProcessIdentity.user, directoryOwner: handle.owner, group: nil, enforcesExpiry: false,
      longest: standard.longestEntry)
    checksContent = true
    requireProof = false
  }

  /// An open file, or why there is none.
  package enum Opening: ~Copyable {
    case file(FileDescriptor, FileStatus)
    case missed(MissReason, Errno?)
  }

  /// What the attributes of a file say, checked against the key.
  package struct Testimony: Sendable {
    var attribute: EntryAttribute?
    var extendedData: [UInt8] = []
    /// What this process knows of the content where there is no attribute.
    var publishedHash: UInt64?

    var contentHash: UInt64? { attribute?.contentHash ?? publishedHash }
    var lifetime: Lifetime { attribute?.lifetime ?? .unknown }
  }

  /// Whether the attributes allow the file to be served.
  enum Examination: Sendable {
    case accepted(Testimony)
    case rejected(MissReason)
  }

  /// Opens the file of a name.
  ///
  /// See: man 2 open. What concerns this entry alone is a miss; what the caller must cure is an
  /// error.
  package func open(_ name: FileName, in handle: DirectoryHandle) throws(CacheError) -> Opening {
    do throws(Errno) {
      // Open first and ask afterwards: what is asked of the descriptor holds for what is read from
      // it.
      let descriptor = try handle.openForReading(name)
      let status = try descriptor.status()
      return .file(descriptor, status)
    } catch {
      guard let reason = Self.missReason(for: error), Self.concernsOneEntry(error, in: handle)
      else { throw CacheError(readFailure: error, name: name.text) }
      return .missed(reason, error)
    }
  }

  /// Whether a failure to look at an entry is that entry's. EACCES can be of the whole directory;
  /// that and what the process lacks is the caller's to cure.
  static func concernsOneEntry(_ errno: Errno, in handle: DirectoryHandle) -> Bool {
    guard missReason(for: errno) != nil else { return false }
    return errno != .permissionDenied || mayEnter(handle)
  }

  private static func mayEnter(_ handle: DirectoryHandle) -> Bool {
    do throws(Errno) {
      _ = try handle.status(of: FileName("."))
      return true
    } catch {
      return error != .permissionDenied
    }
  }

  /// Why a read that failed counts as a miss, nil when it is an error.
  package static func missReason(for errno: Errno) -> MissReason? {
    switch errno {
    case .noSuchFile: .absent
    // ELOOP is O_NOFOLLOW's word for a symbolic link, ENXIO a socket's. See: man 2 open.
    case .tooManyLinks, .noSuchDeviceOrAddress: .foreign
    case .staleHandle, .notDirectory, .permissionDenied, .ioError, .notConnected: .unreadable
    // The process's own want and not the entry's: the caller can close something and ask again.
    case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: nil
    default: .unreadable
    }
  }

  /// Reads the attributes and checks that the file can be the key's.
  func examine(
    _ file: borrowing FileDescriptor, _ status: FileStatus, key: Span<UInt8>
  ) throws(Errno) -> Examination {
    let reading = try attributeReading(of: file)
    switch reading {
    case .otherVersion: return .rejected(.otherVersion)
    case .malformed:
      if checksContent { return .rejected(.damaged) }
      return requireProof ? .rejected(.unproven) : .accepted(Testimony())
    case nil:
      if requireProof { return .rejected(.unproven) }
      if checksContent, try isRemnant(file, status) { return .rejected(.damaged) }
      return .accepted(Testimony())
    case .attribute(let attribute):
      // The proof before the content: a file of another key may be intact, and is not to be
      // removed.
      if requireProof && attribute.proof == .none { return .rejected(.unproven) }
      guard attribute.proof.admits(key) else { return .rejected(.otherKey) }
      return .accepted(Testimony(attribute: attribute, extendedData: try extendedData(of: file)))
    }
  }

  /// Whether a file without `user.larder` is what a power cut or `e2fsck` has left of a value.
  ///
  /// It is if it has extended data, because every store writes `user.larder` as well. An empty file
  /// is if the file system has attributes, because an empty value has one there; without attributes
  /// the content is on the disk before it gets its name. A file without any attribute can be one
  /// that a person made.
  package func isRemnant(
    _ file: borrowing FileDescriptor, _ status: FileStatus
  ) throws(Errno) -> Bool {
    if try hasExtendedData(file) { return true }
    return status.byteCount == 0 ? try file.holdsAttributes() : false
  }

  private func hasExtendedData(_ file: borrowing FileDescriptor) throws(Errno) -> Bool {
    do throws(Errno) {
      return try file.withAttribute(.data) { _ in true } ?? false
    } catch .rangeTooSmall {
      return true
    }
  }

  /// What `user.larder` says; nil where there is none.
  package func attributeReading(of file: borrowing FileDescriptor) throws(Errno) -> EntryAttribute
    .Reading?
  {
    do throws(Errno) {
      return try file.withAttribute(.entry, EntryAttribute.read)
    } catch .rangeTooSmall {
      // Longer than any of this version.
      return .otherVersion
    }
  }

  /// What `user.larder.data` holds.
  package func extendedData(of file: borrowing FileDescriptor) throws(Errno) -> [UInt8] {
    do throws(Errno) {
      return try file.withAttribute(.data) { [UInt8](copying: $0) } ?? []
    } catch .rangeTooSmall {
      return []
    }
  }

  /// Whether a file's content and extended data are those that were stored.
  ///
  /// True where nothing is known of them, since nothing speaks against the file then.
  ///
  /// - Complexity: O(bytes).
  static func matches(_ content: Span<UInt8>, _ testimony: Testimony) -> Bool {
    guard let contentHash = testimony.contentHash else { return true }
    var hash = XXH64()
    hash.update(content)
    hash.update(testimony.extendedData.span)
    return hash.finalize() == contentHash
  }

  /// The same for a file that is not held in memory; it is read in pieces and rewound.
  static func matches(
    _ file: borrowing FileDescriptor, _ testimony: Testimony
  ) throws(Errno) -> Bool {
    guard let contentHash = testimony.contentHash else { return true }
    let hash = try hash(of: file, testimony.extendedData)
    try file.seek(to: 0)
    return hash == contentHash
  }

  /// Whether a file is no value of ours but a hole: one that nobody could hold in memory, with few
  /// blocks behind it. `truncate` makes one of 2⁶³ bytes in no time, and reading it takes years.
  ///
  /// A file system that compresses keeps a value in a thirtieth of its length at the least, unless
  /// it is all zeros.
  private static func isHollow(_ status: FileStatus) -> Bool {
    status.byteCount / 64 > status.allocatedByteCount
      && !SystemEnvironment.mayHold(status.byteCount)
  }

  /// The hash of a file's content from the present offset on, and of extended data after it.
  ///
  /// - Throws: `.noMemory` for a file that is hollow, as reading its value does.
  package static func hash(
    of file: borrowing FileDescriptor, _ extendedData: [UInt8]
  ) throws(Errno) -> UInt64 {
    guard !isHollow(try file.status()) else { throw .noMemory }
    var hash = XXH64()
    // Large enough that the calls do not count, small enough to stay in a second-level cache.
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try file.read(into: &piece)
      if count == 0 { break }
      hash.update(piece.span.extracting(..<count))
    }
    hash.update(extendedData.span)
    return hash.finalize()
  }
}
