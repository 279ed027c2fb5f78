import Larder

/// What a network file system gives to a cache that several machines share.
///
/// Measured through two mounts, except for the kernel's own client of CephFS, which is taken from
/// its documentation.
struct FileSystemTraits: Sendable {
  /// The name that people use for it: `CephFS`.
  let title: String
  /// The seconds within which a change by another machine shows on this one. Zero if a look always
  /// shows it, and waits for the other machine if it must.
  let coherenceDelay: Int
  /// Whether an open file keeps its content after another machine has replaced it.
  let keepsReplacedFiles: Bool
  /// Whether a read by any program moves the last access.
  let readsMoveAccess: Bool
  /// Whether stamps are kept to the nanosecond. Otherwise they are whole seconds.
  let hasFineStamps: Bool
  /// Whether stamps end in 2106, because seconds have 32 bits.
  let hasShortStamps: Bool

  /// By the name of the file system in the table of mounts.
  fileprivate static let known: [String: FileSystemTraits] = [
    "ceph": ceph, "fuse.ceph": ceph, "fuse.ceph-fuse": ceph, "fuse.mfs": moose,
    "fuse.glusterfs": gluster, "fuse.sshfs": sshfs,
  ]

  private static let ceph = FileSystemTraits(
    title: "CephFS", coherenceDelay: 0, keepsReplacedFiles: true,
    readsMoveAccess: false, hasFineStamps: true, hasShortStamps: true)

  private static let moose = FileSystemTraits(
    title: "MooseFS", coherenceDelay: 30, keepsReplacedFiles: true,
    readsMoveAccess: true, hasFineStamps: false, hasShortStamps: true)

  private static let gluster = FileSystemTraits(
    title: "GlusterFS", coherenceDelay: 1, keepsReplacedFiles: false,
    readsMoveAccess: false, hasFineStamps: true, hasShortStamps: false)

  private static let sshfs = FileSystemTraits(
    title: "sshfs", coherenceDelay: 20, keepsReplacedFiles: false,
    readsMoveAccess: true, hasFineStamps: false, hasShortStamps: true)
}

extension FileSystemKind {
  /// What is known of a network file system by its name; nil if nothing is.
  var traits: FileSystemTraits? { FileSystemTraits.known[name] }

  /// A sentence for each trait, with one word for scripts; none if nothing is known.
  var sentences: [(name: String, sentence: String)] {
    guard let traits else { return [] }
    let stamps = traits.hasFineStamps ? "nanoseconds" : "whole seconds"
    return [
      (
        "coherence",
        traits.coherenceDelay == 0
          ? "a look shows every change, and waits for it if it must"
          : "a change shows on other machines within \(traits.coherenceDelay) s"
      ),
      (
        "locks",
        sharesFileLocks ? "locks on files exclude other machines" : "no locks among machines"
      ),
      (
        "access",
        "a read by another program \(traits.readsMoveAccess ? "counts as a use" : "is no use")"
      ),
      ("stamps", "stamps are \(stamps)" + (traits.hasShortStamps ? " and end in 2106" : "")),
    ]
  }
}
