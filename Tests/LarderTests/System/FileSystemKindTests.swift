import Foundation
import Testing

@testable import Larder
@testable import LarderSystem

/// The file system of a directory, found by the system's number and the table of mounts.
struct `The kind of file system` {
  private static let table = """
    22 28 0:21 / /proc rw,relatime shared:12 - proc proc rw
    31 28 254:17 / /srv/data rw,relatime shared:1 - ext4 /dev/vdb1 rw
    88 28 0:39 / /mnt/a\\040b rw,relatime - fuse.glusterfs node:/volume rw,user_id=0
    90 28 0:40 / /mnt/ssh rw,nosuid shared:4 master:2 - fuse.sshfs host:/srv rw
    93 28 0:43 / /mnt/moose rw - fuse mfs\\043127.0.0.1:9421 rw,user_id=0
    95 28 0:45 / /mnt/older rw - fuse mfs#10.0.0.1:9421 rw,user_id=0
    94 28 0:44 / /mnt/plain rw - fuse some/program rw
    broken
    91 28 0:41 / /mnt/none rw -
    """

  @Test func `one that tells no sizes is never full`() throws {
    #expect(try DirectoryHandle.open(path: "/proc", faults: nil).freeByteCount() == .max)
  }

  @Test(arguments: [
    (0xef53, "ext4", false), (0x5846_5342, "xfs", false), (0x0102_1994, "tmpfs", false),
    (0x6969, "nfs", true), (0xff53_4d42, "cifs", true), (0x00c3_6400, "ceph", true),
    (0x1234, "0x1234", false),
  ])
  func `a number tells name and reach`(number: UInt64, name: String, isNetwork: Bool) {
    let kind = FileSystemKind(number: number) { nil }
    #expect(kind == FileSystemKind(name: name, isNetwork: isNetwork))
  }

  @Test(arguments: [
    ("fuse.glusterfs", true, false), ("fuse.sshfs", true, true),
    ("fuse.something-new", true, nil), ("fuseblk", false, false),
    ("fuse.fuse-overlayfs", false, false),
  ])
  func `outside the kernel the mount's type decides, and what is unknown is to be tried`(
    type: String, isNetwork: Bool, findsFilesByPath: Bool?
  ) {
    let kind = FileSystemKind(number: 0x6573_5546) { type }
    #expect(
      kind
        == FileSystemKind(
          name: type, isNetwork: isNetwork, findsFilesByPath: findsFilesByPath))
  }

  @Test func `without a table of mounts a program outside the kernel counts as a network`() {
    #expect(FileSystemKind(number: 0x6573_5546) { nil }.isNetwork)
  }

  @Test(arguments: [
    (39, "fuse.glusterfs"), (40, "fuse.sshfs"), (254 << 8 | 17, "ext4"), (41, nil), (77, nil),
    (43, "fuse.mfs"), (44, "fuse"), (45, "fuse.mfs"),
  ])
  func `the type of a mount is found by the device's number`(device: UInt64, type: String?) {
    #expect(FileSystemKind.mountType(of: device, in: Self.table) == type)
  }

  @Test func `a directory on this machine is told`() throws {
    let directory = try TemporaryDirectory()
    let handle = try DirectoryHandle.open(path: directory.path, faults: nil)
    #expect(handle.fileSystem != .unknown)
  }

  @Test(arguments: [
    ("nfs4", true, false), ("smb3", true, false), ("9p", true, false), ("ceph", true, false),
    ("ext4", false, false), ("xfs", false, false), ("fuse.sshfs", true, true),
    ("fuse.glusterfs", true, false), ("fuseblk", false, false), ("fuse.mfs", true, false),
    ("fuse.ceph-fuse", true, false),
  ])
  func `the mount's type alone tells enough`(
    type: String, isNetwork: Bool, findsFilesByPath: Bool
  ) {
    #expect(
      FileSystemKind(mountType: type)
        == FileSystemKind(
          name: type, isNetwork: isNetwork, findsFilesByPath: findsFilesByPath))
  }

  @Test func `where the system does not say the table of mounts does`() throws {
    let directory = try TemporaryDirectory()
    let faults = FaultInjector()
    faults.plan(.errno(.noSuchSystemCall), for: .fstatfs)
    let handle = try DirectoryHandle.open(path: directory.path, faults: faults)
    let plain = try DirectoryHandle.open(path: directory.path, faults: nil)
    // In a chroot whose root is no mount the table leaves out the file system of the root.
    let table = try #require(SystemEnvironment.text(ofFile: "/proc/self/mountinfo"))
    let device = try plain.descriptor.status().identity.device
    let isListed = FileSystemKind.mountType(of: device, in: table) != nil
    #expect(isListed || handle.fileSystem == .unknown)
    #expect(!isListed || handle.fileSystem != .unknown)
    #expect(!isListed || handle.fileSystem.isNetwork == plain.fileSystem.isNetwork)
  }

  @Test(arguments: [(0, 0), (65_536, 65_536), (200_000, 200_000), (5 << 20, 4 << 20)])
  func `a long table of mounts is read to its end, and no more than 4 MiB of it`(
    byteCount: Int, readCount: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/table"
    try Data(repeating: UInt8(ascii: "x"), count: byteCount).write(to: URL(filePath: path))
    #expect(SystemEnvironment.text(ofFile: path)?.utf8.count == readCount)
  }

  @Test(arguments: [
    ("ceph", true), ("fuse.ceph-fuse", true), ("fuse.mfs", true), ("fuse.glusterfs", true),
    ("fuse.sshfs", false), ("nfs4", false), ("fuse.something-new", false), ("ext4", true),
  ])
  func `whether locks on a file system reach others follows from its name`(
    type: String, sharesFileLocks: Bool
  ) {
    #expect(FileSystemKind(mountType: type).sharesFileLocks == sharesFileLocks)
  }

  @Test(arguments: [
    ("nfs4", "nfs4", true), ("fuse.ceph-fuse", "ceph", true), ("fuse.mfs", "fuse.ceph-fuse", false),
    ("nfs4", "smb3", false), ("fuse.mfs", "ext4", false), ("nfs4", "tmpfs", false),
  ])
  func `a lost mount is replaced by one of the same file system`(
    lost: String, fresh: String, canReplace: Bool
  ) {
    let (lost, fresh) = (FileSystemKind(mountType: lost), FileSystemKind(mountType: fresh))
    #expect(fresh.canReplace(lost) == canReplace)
    #expect(lost.canReplace(fresh) == canReplace)
  }
}
