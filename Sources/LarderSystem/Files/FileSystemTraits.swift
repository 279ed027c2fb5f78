/// What a network file system gives to a cache that several machines share.
///
/// Measured through two mounts, except for the kernel's own client of CephFS, which is taken from
/// its documentation.
package struct FileSystemTraits: Sendable, Hashable {
  /// The name that people use for it: `CephFS`.
  package let title: String
  /// The seconds within which a change by another machine shows on this one. Zero if a look always
  /// shows it, and waits for the other machine if it must.
  package let coherenceDelay: Int
  /// Whether a lock on a file excludes other machines.
  package let sharesFileLocks: Bool
  /// Whether an open file keeps its content after another machine has replaced it.
  package let keepsReplacedFiles: Bool
  /// Whether a read by any program moves the last access.
  package let readsMoveAccess: Bool
  /// Whether stamps are kept to the nanosecond. Otherwise they are whole seconds.
  package let hasFineStamps: Bool
  /// Whether stamps end in 2106, because seconds have 32 bits.
  package let hasShortStamps: Bool

  /// By the name of the file system in the table of mounts.
  static let known: [String: FileSystemTraits] = [
    "ceph": ceph, "fuse.ceph": ceph, "fuse.ceph-fuse": ceph, "fuse.mfs": moose,
    "fuse.glusterfs": gluster, "fuse.sshfs": sshfs,
  ]

  private static let ceph = FileSystemTraits(
    title: "CephFS", coherenceDelay: 0, sharesFileLocks: true, keepsReplacedFiles: true,
    readsMoveAccess: false, hasFineStamps: true, hasShortStamps: true)

  private static let moose = FileSystemTraits(
    title: "MooseFS", coherenceDelay: 30, sharesFileLocks: true, keepsReplacedFiles: true,
    readsMoveAccess: true, hasFineStamps: false, hasShortStamps: true)

  private static let gluster = FileSystemTraits(
    title: "GlusterFS", coherenceDelay: 1, sharesFileLocks: true, keepsReplacedFiles: false,
    readsMoveAccess: false, hasFineStamps: true, hasShortStamps: false)

  private static let sshfs = FileSystemTraits(
    title: "sshfs", coherenceDelay: 20, sharesFileLocks: false, keepsReplacedFiles: false,
    readsMoveAccess: true, hasFineStamps: false, hasShortStamps: true)
}
