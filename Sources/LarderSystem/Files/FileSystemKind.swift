/// The kind of file system that a directory is on, as far as a cache's promises depend on it.
///
/// A network file system is one that other machines can change without this kernel's knowledge. On
/// it, `inotify` reports only this machine's changes, a lock on a directory does not exclude other
/// machines, and the results of `stat` may be a second old.
package struct FileSystemKind: Sendable, Hashable {
  /// The kernel's name for it in `/proc/mounts` (`ext4`, `nfs`, `fuse.glusterfs`), or its number in
  /// hexadecimal if the name is unknown.
  package let name: String
  /// Whether other machines may share it.
  package let isNetwork: Bool
  /// Whether the file system finds open files by their paths, so that `read` or `fstat` on a
  /// descriptor can return another file's data after the name was replaced; nil if that is unknown.
  ///
  /// A FUSE program that identifies files by their paths gives two successive files of a name one
  /// inode, with one length and one set of cached pages. When another machine replaces the file, a
  /// reader can get the content of one file cut to the length of the other.
  package let findsFilesByPath: Bool?
  /// The bytes of `user.larder` that cost no block, as measured with the usual size of inodes.
  ///
  /// ext4 keeps 64 bytes in an inode of 256, XFS 254 in one of 512. btrfs and bcachefs keep
  /// attributes in their trees, and tmpfs in memory. Of others nothing is known.
  package let freeAttributeCount: Int

  package init(name: String, isNetwork: Bool, findsFilesByPath: Bool? = false) {
    self.name = name
    self.isNetwork = isNetwork
    self.findsFilesByPath = findsFilesByPath
    freeAttributeCount =
      switch name {
      case "xfs": 254
      case "btrfs", "bcachefs", "tmpfs", "ramfs": .max
      default: 64
      }
  }

  /// The kind of a file system about which nothing is known.
  static let unknown = FileSystemKind(name: "unknown", isNetwork: false)

  /// Identifies a file system by its number and, if it runs outside of the kernel, by the type that
  /// it was mounted with.
  ///
  /// - Parameter mountType: Returns that type. Called only if the number is not enough, because it
  ///   reads a table of all mounts.
  init(number: UInt64, mountType: () -> String?) {
    if number == Self.fuse {
      self.init(mountType: mountType() ?? "fuse")
    } else if let name = Self.networks[number] {
      self.init(name: name, isNetwork: true)
    } else {
      let name = Self.locals[number] ?? "0x" + String(number, radix: 16)
      self.init(name: name, isNetwork: false)
    }
  }

  /// Identifies a file system by the type that it was mounted with.
  init(mountType type: String) {
    guard type.hasPrefix("fuse") else {
      // Some types have a version at the end: nfs4, smb3.
      let family = type.last?.isNumber == true && type != "9p" ? String(type.dropLast()) : type
      let isNetwork = Self.networks.values.contains { $0 == type || $0 == family }
      self.init(name: type, isNetwork: isNetwork)
      return
    }
    let isNetwork = !Self.localPrograms.contains(type)
    let isKnown = !isNetwork || Self.identifyingPrograms.contains(type)
    self.init(
      name: type, isNetwork: isNetwork,
      findsFilesByPath: isKnown ? false : type == "fuse.sshfs" ? true : nil)
  }

  // Numbers from linux/magic.h and, for those not in it, from man 2 statfs.
  private static let fuse: UInt64 = 0x6573_5546

  private static let networks: [UInt64: String] = [
    0x6969: "nfs", 0x517b: "smb", 0xfe53_4d42: "smb2", 0xff53_4d42: "cifs",
    0x00c3_6400: "ceph", 0x0102_1997: "9p", 0x5346_414f: "afs", 0x6b41_4653: "afs",
    0x7375_7245: "coda", 0x0bd0_0bd0: "lustre", 0x4750_4653: "gpfs", 0x1983_0326: "beegfs",
    0x7461_636f: "ocfs2", 0x0116_1970: "gfs2", 0x6a65_6a63: "virtiofs", 0x786f_4256: "vboxsf",
  ]

  private static let locals: [UInt64: String] = [
    0xef53: "ext4", 0x5846_5342: "xfs", 0x9123_683e: "btrfs", 0x0102_1994: "tmpfs",
    0x794c_7630: "overlay", 0x8584_58f6: "ramfs", 0x2fc1_2fc1: "zfs", 0xf2f5_2010: "f2fs",
    0xca45_1a4e: "bcachefs", 0x4d44: "vfat", 0x2011_bab0: "exfat",
  ]

  /// FUSE programs that serve files of this machine's own disks. Any other program counts as a
  /// network file system, to be on the safe side.
  private static let localPrograms: Set<String> = [
    "fuseblk", "fuse.fuse-overlayfs", "fuse.mergerfs", "fuse.bindfs", "fuse.gocryptfs",
    "fuse.encfs",
  ]

  /// FUSE programs that identify a file by a fixed number in every call.
  private static let identifyingPrograms: Set<String> = [
    "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.mfs",
  ]
}

extension FileSystemKind {
  private static let cephTypes: Set<String> = ["ceph", "fuse.ceph", "fuse.ceph-fuse"]

  private var isCeph: Bool { Self.cephTypes.contains(name) }

  /// Whether a lock on a file excludes other machines, so that a temporary that can be locked was
  /// left behind. Measured through two mounts, except for the kernel's own client of CephFS, which
  /// is taken from its documentation.
  package var sharesFileLocks: Bool {
    !isNetwork || isCeph || name == "fuse.mfs" || name == "fuse.glusterfs"
  }

  /// Whether a new mount can be of this kind if a lost one was of another: the names are the same,
  /// or two programs for the same file system, such as `ceph` and `fuse.ceph-fuse`.
  package func canReplace(_ lost: FileSystemKind) -> Bool {
    name == lost.name || isCeph && lost.isCeph
  }

  /// Asks the system for the file system of an open file. Corresponds to `fstatfs`.
  ///
  /// If that fails, reads the table of mounts, because the failure is typical of a network file
  /// system: sshfs answers by path, and a directory that two machines make at once can have lost
  /// its path.
  init(of file: borrowing FileDescriptor, device: UInt64) {
    if let simulated = file.faults?.simulatedFileSystem {
      self = simulated
      return
    }
    func mountType() -> String? {
      Self.mountType(of: device, in: SystemEnvironment.text(ofFile: "/proc/self/mountinfo") ?? "")
    }
    do throws(Errno) {
      self.init(number: try file.fileSystemNumber(), mountType: mountType)
    } catch {
      self = mountType().map(FileSystemKind.init(mountType:)) ?? .unknown
    }
  }

  /// Returns the type of the mount with a device's number.
  ///
  /// A line reads `36 35 98:0 / /mnt rw shared:1 - ext4 /dev/sda1 rw`. Source: man 5 proc,
  /// `/proc/pid/mountinfo`. MooseFS's type is `fuse` alone, and its source is `mfs#HOST:PORT`.
  static func mountType(of device: UInt64, in table: String) -> String? {
    let number = DeviceNumber(device)
    let wanted = "\(number.major):\(number.minor)"
    for line in table.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == wanted,
        let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
      else { continue }
      let type = String(fields[dash + 1])
      guard type == "fuse", dash + 2 < fields.count,
        let program = program(inSource: fields[dash + 2])
      else { return type }
      return "fuse.\(program)"
    }
    return nil
  }

  /// Returns the program that a mount's source names before a `#`, which the kernel writes `\043`.
  private static func program(inSource source: Substring) -> Substring? {
    let text = source.replacing("\\043", with: "#")
    return text.firstIndex(of: "#").map { text[..<$0] }
  }
}
