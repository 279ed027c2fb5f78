import LarderLibc

extension FileDescriptor {
  /// The maximum length of an attribute in bytes. No version of the format writes a longer one.
  static let maximumAttributeByteCount = 4096

  /// Calls a function with the bytes of an extended attribute. Does not call it if the file has no
  /// such attribute or the file system has none at all.
  ///
  /// - Throws: `.rangeTooSmall` for an attribute that is longer than any that is written.
  ///
  /// Corresponds to `fgetxattr`.
  package func withAttribute(_ name: AttributeName, _ body: (Span<UInt8>) -> Void) throws(Errno) {
    do throws(Errno) {
      // Most attributes fit into 1,024 bytes, which is the most that Swift puts on the stack, and
      // all data. A read of an entry reads two, and neither should cost an allocation.
      try lendAttribute(name, upTo: 1024, to: body)
    } catch .rangeTooSmall where name != .data {
      try lendAttribute(name, upTo: Self.maximumAttributeByteCount, to: body)
    }
  }

  // Inlined, because only a buffer of a constant size is on the stack.
  @inline(__always)
  private func lendAttribute(
    _ name: AttributeName, upTo byteCount: Int, to body: (Span<UInt8>) -> Void
  ) throws(Errno) {
    var failure: Errno?
    unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { buffer in
      do throws(Errno) {
        let count = try system(.fgetxattr, faults) {
          unsafe name.withCString {
            unsafe c_fgetxattr(rawValue, $0, buffer.baseAddress, buffer.count)
          }
        }
        let bytes = unsafe UnsafeBufferPointer(
          rebasing: UnsafeRawBufferPointer(buffer).bindMemory(to: UInt8.self)[0..<count])
        body(unsafe bytes.span)
      } catch {
        failure = error
      }
    }
    // ENODATA: no such attribute. EOPNOTSUPP: a file system without attributes, such as vfat or an
    // old tmpfs. A reader treats both alike. See: man 2 getxattr.
    if let failure, failure != .noData, failure != .notSupported { throw failure }
  }

  /// Whether the file system supports extended attributes, judging by a request for one.
  /// Corresponds to `fgetxattr`.
  package func holdsAttributes() throws(Errno) -> Bool {
    do throws(Errno) {
      _ = try system(.fgetxattr, faults) {
        unsafe AttributeName.entry.withCString { unsafe c_fgetxattr(rawValue, $0, nil, 0) }
      }
      return true
    } catch .notSupported {
      return false
    } catch .noData {
      return true
    }
  }

  /// Sets an extended attribute. Corresponds to `fsetxattr`.
  ///
  /// Works through a descriptor that is only open for reading, if the caller may write to the file.
  /// See: man 2 setxattr.
  ///
  /// - Throws: `.notSupported` if the file system has no attributes; `.argumentListTooLong`,
  ///   `.noSpace` or `.quotaExceeded` when the value does not fit, which does not mean that the
  ///   disk is full.
  package func setAttribute(_ name: AttributeName, to value: [UInt8]) throws(Errno) {
    _ = try system(.fsetxattr, faults) {
      unsafe name.withCString { name in
        unsafe value.withUnsafeBytes {
          unsafe c_fsetxattr(rawValue, name, $0.baseAddress, $0.count, 0)
        }
      }
    }
    noteChange()
  }
}

/// The two extended attributes of an entry.
package enum AttributeName: Sendable {
  /// `user.larder`: integrity, lifetime and the key's proof.
  case entry
  /// `user.larder.data`: the caller's extended data.
  case data

  fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // Static strings end with a zero that their count does not include. See:
    // StaticString.utf8Start.
    let text: StaticString = self == .entry ? "user.larder" : "user.larder.data"
    return unsafe body(UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self))
  }
}

extension FileDescriptor {
  // Values of linux/fs.h, which Glibc's module lacks.
  private static let getFlags: UInt = 0x8008_6601
  private static let setFlags: UInt = 0x4008_6602
  private static let noAtimeFlag: Int = 0x80

  /// Keeps reads by other programs from moving the atime of files made here from now on.
  ///
  /// Corresponds to `ioctl(FS_IOC_SETFLAGS)` with FS_NOATIME_FL, which new files inherit.
  package func setNoAtimeFlag() throws(Errno) {
    // The call sets all flags at once, so they are read, changed and written. A flag that another
    // process sets in between is lost. So this is done only in a directory that the cache made or
    // found empty.
    //
    // The kernel reads and writes 32 bits although the request's number says `long`; the upper half
    // of the word stays zero. See: man 2 ioctl_iflags, BUGS.
    var flags = try flags() | Self.noAtimeFlag
    _ = try system(.ioctl, faults) { unsafe ioctl(rawValue, Self.setFlags, &flags) }
  }

  /// Whether the directory has that flag. Throws where the file system has none.
  package func hasNoAtimeFlag() throws(Errno) -> Bool { try flags() & Self.noAtimeFlag != 0 }

  private func flags() throws(Errno) -> Int {
    var flags = 0
    _ = try system(.ioctl, faults) { unsafe ioctl(rawValue, Self.getFlags, &flags) }
    return flags
  }
}
