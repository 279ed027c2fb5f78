import LarderLibc
import Synchronization

// Opening and reading that fail with EAGAIN where they would wait for a device.

/// The way in which a directory's files are opened and read without waiting for a device.
enum Promptness: UInt8 {
  case unknown
  /// Not at all: on other file systems, before Linux 6.5, and where such calls are forbidden.
  case never
  /// By `openat2`, `cachestat` and `preadv2`.
  case byFlags
  /// By any call: on tmpfs while nothing can be swapped out.
  case always
}

extension DirectoryHandle {
  /// Whether files can be opened and read here without waiting for a device.
  ///
  /// Tried once. ext4, XFS and btrfs keep to the flags. overlayfs may wait in spite of them, and
  /// about others nothing is known.
  package var isPrompt: Bool { promptness != .never }

  fileprivate var isAlwaysPrompt: Bool { promptness == .always }

  private var promptness: Promptness {
    let known = Promptness(rawValue: promptMark.load(ordering: .relaxed)) ?? .never
    if known != .unknown { return known }
    guard let found = probe() else { return .never }
    promptMark.store(found.rawValue, ordering: .relaxed)
    return found
  }

  /// Tries the calls; returns nil if they failed for a reason that can pass.
  private func probe() -> Promptness? {
    switch fileSystem.name {
    case "tmpfs": return SystemEnvironment.maySwap ? .never : .always
    case "ext4", "xfs", "btrfs":
      do throws(Errno) {
        _ = try openCached(FileName("."), OpenMode.directory.flags).cachedPageCount(of: 1)
        return .byFlags
      } catch .noSuchSystemCall, .notPermitted, .permissionDenied, .invalidArgument, .notSupported {
        return .never
      } catch {
        return nil
      }
    default: return .never
    }
  }

  /// Opens a file for reading if its name is in the kernel's cache. Corresponds to
  /// `openat2(RESOLVE_CACHED)`.
  ///
  /// - Parameter forStatusOnly: Whether the file's status is all that is asked of the descriptor.
  /// - Throws: `.wouldBlock` if the device would be asked for the name; `.noSuchFile` if the kernel
  ///   knows that there is none; `.notPermitted` for another user's file.
  package func openPromptly(
    _ name: FileName, forStatusOnly: Bool = false
  ) throws(Errno) -> FileDescriptor {
    let flags =
      forStatusOnly
      ? O_CLOEXEC | O_NOFOLLOW | OpenMode.pathOnly : OpenMode.read.flags | OpenMode.noAtime
    guard promptness == .always else { return try openCached(name, flags) }
    return try open(name, flags)
  }

  private func openCached(_ name: FileName, _ flags: Int32) throws(Errno) -> FileDescriptor {
    // A `struct open_how` of linux/openat2.h: flags, mode, and RESOLVE_CACHED.
    let how: [3 of UInt64] = [UInt64(flags), 0, 0x20]
    let raw = try system(.openat2, faults) {
      unsafe name.withCString { name in
        unsafe how.span.withUnsafeBytes { how in
          // The number is the same on all platforms.
          c_syscall(
            437, UInt(bitPattern: Int(descriptor.rawValue)), UInt(bitPattern: name),
            UInt(bitPattern: how.baseAddress), UInt(how.count), 0, 0)
        }
      }
    }
    return FileDescriptor(rawValue: Int32(raw), faults: faults)
  }
}

extension FileDescriptor {
  /// Reads a whole file from its start if the kernel has it in memory. Corresponds to
  /// `preadv2(RWF_NOWAIT)` after `cachestat`, because that flag alone begins to read what is
  /// missing, and waits if the device's queue is full.
  ///
  /// - Throws: `.wouldBlock` if a part is not in memory; `.notSupported`.
  package func readPromptly(_ byteCount: Int, in handle: DirectoryHandle) throws(Errno) -> [UInt8] {
    if byteCount == 0 || handle.isAlwaysPrompt { return try read(upTo: byteCount) }
    let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
    let count = try cachedPageCount(of: byteCount)
    guard count * pageSize >= byteCount else { throw .wouldBlock }
    return try read(upTo: byteCount, at: 0, isPrompt: true)
  }

  func readPrompt(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(Errno) -> Int {
    // A `struct iovec`.
    let parts: [2 of UInt] = [UInt(bitPattern: buffer.baseAddress), UInt(buffer.count)]
    return try system(.preadv2, faults) {
      unsafe parts.span.withUnsafeBytes { parts in
        unsafe c_preadv2(rawValue, parts.baseAddress.unsafelyUnwrapped, 1, Int64(offset), 8)
      }
    }
  }

  /// Returns the number of the first bytes' pages that are in memory. Corresponds to `cachestat`.
  fileprivate func cachedPageCount(of byteCount: Int) throws(Errno) -> Int {
    // The structs of linux/mman.h: a range, and five counts of which that of the cache is first.
    let range: [2 of UInt64] = [0, UInt64(byteCount)]
    var counts = [5 of UInt64](repeating: 0)
    let most = try faults?.limit(.cachestat, to: .max) ?? .max
    _ = try system(.cachestat, nil) {
      unsafe range.span.withUnsafeBytes { range in
        unsafe withUnsafeMutableBytes(of: &counts) { counts in
          // The number is the same on all platforms.
          c_syscall(
            451, UInt(bitPattern: Int(rawValue)), UInt(bitPattern: range.baseAddress),
            UInt(bitPattern: counts.baseAddress), 0, 0, 0)
        }
      }
    }
    return min(Int(clamping: counts[0]), most)
  }

  /// Has a thread close the descriptor. A file without a name is deleted then, and one that is
  /// being written is sent to the disk, both of which can take long.
  package consuming func closeAside(on executor: IOExecutor) {
    let (faults, raw) = (faults, release())
    _ = executor.submitAside { _ = FileDescriptor(rawValue: raw, faults: faults) }
  }
}
