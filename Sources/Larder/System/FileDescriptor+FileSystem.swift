extension FileDescriptor {
  // Of linux/magic.h and, for those that are not there, of the filesystems' own sources: NFS, SMB
  // twice, Ceph, 9p, AFS twice, Coda, OCFS2, GFS2, Lustre, FUSE and what is built on it.
  private static let networkTypes: Set<UInt32> = [
    0x6969, 0xfe53_4d42, 0xff53_4d42, 0x00c3_6400, 0x0102_1997, 0x5346_414f, 0x6b41_4653,
    0x7375_7245, 0x7461_636f, 0x0116_1970, 0x0bd0_0bd0, 0x6573_5546,
  ]

  /// Whether other machines, or whoever serves the filesystem, can change files without this
  /// kernel's being told. Corresponds to `fstatfs`.
  func isOnNetwork() throws(Errno) -> Bool {
    // Twice as many words as the kernel writes.
    var buffer = [UInt](repeating: 0, count: 30)
    _ = try system(.fstatvfs, faults) { unsafe c_fstatfs(rawValue, &buffer) }
    return Self.networkTypes.contains(UInt32(truncatingIfNeeded: buffer[0]))
  }
}
