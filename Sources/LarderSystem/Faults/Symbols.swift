// Functions that Glibc's and Musl's modules lack. Every declaration is that of the C header named
// with it. No other file declares a C symbol.

/// See: man 2 fsetxattr (sys/xattr.h). Returns 0, or -1 with errno. Flags 0: it makes or replaces.
@_extern(c, "fsetxattr")
func c_fsetxattr(
  _ descriptor: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer?, _ size: Int,
  _ flags: Int32
) -> Int32

/// See: man 2 fgetxattr (sys/xattr.h). Returns the length, or -1 with errno: ERANGE for a buffer
/// that is too short.
@_extern(c, "fgetxattr")
func c_fgetxattr(
  _ descriptor: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer?, _ size: Int
) -> Int

/// See: man 2 renameat2. Returns 0, or -1 with errno. Flag 1 is RENAME_NOREPLACE (linux/fs.h).
@_extern(c, "renameat2")
func c_renameat2(
  _ oldDirectory: Int32, _ oldName: UnsafePointer<CChar>, _ newDirectory: Int32,
  _ newName: UnsafePointer<CChar>, _ flags: UInt32
) -> Int32

/// See: man 2 eventfd (sys/eventfd.h).
@_extern(c, "eventfd")
func c_eventfd(_ initialCount: UInt32, _ flags: Int32) -> Int32

/// See: man 2 fstatfs (sys/vfs.h). Fills a `struct statfs`, whose first word is the file system's
/// number on every 64-bit platform.
@_extern(c, "fstatfs")
func c_fstatfs(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer) -> Int32

/// See: man 2 statx (sys/stat.h). Fills a `struct statx`. The command alone asks for births.
@_extern(c, "statx")
package func c_statx(
  _ directory: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32, _ mask: UInt32,
  _ buffer: UnsafeMutableRawPointer
) -> Int32

/// See: man 2 memfd_create (sys/mman.h).
@_extern(c, "memfd_create")
func c_memfd_create(_ name: UnsafePointer<CChar>, _ flags: UInt32) -> Int32

/// See: man 2 copy_file_range (unistd.h). Without offsets, uses and moves those of the open files.
/// Returns the number of bytes, or -1 with errno.
@_extern(c, "copy_file_range")
func c_copy_file_range(
  _ source: Int32, _ sourceOffset: UnsafeMutablePointer<Int64>?, _ destination: Int32,
  _ destinationOffset: UnsafeMutablePointer<Int64>?, _ count: Int, _ flags: UInt32
) -> Int

/// See: man 2 mremap (sys/mman.h). Returns the new place, or `MAP_FAILED` with errno. With flags 3,
/// which are MREMAP_MAYMOVE and MREMAP_FIXED, the place is `target`, where nothing may be that is
/// still in use. In C the last argument is variadic. The calling conventions of Swift's Linux
/// platforms pass an address in the same register either way. See: System V ABI for x86-64, 3.5.7;
/// AAPCS64, B.4.
@_extern(c, "mremap")
func c_mremap(
  _ memory: UnsafeMutableRawPointer, _ oldByteCount: Int, _ newByteCount: Int, _ flags: Int32,
  _ target: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer?

/// See: man 2 preadv2 (sys/uio.h). Flag 8 is RWF_NOWAIT (linux/fs.h).
@_extern(c, "preadv2")
func c_preadv2(
  _ descriptor: Int32, _ parts: UnsafeRawPointer, _ count: Int32, _ offset: Int64, _ flags: Int32
) -> Int

/// See: man 2 syscall (unistd.h), for calls that no library has a function for: man 2 futex, man 2
/// openat2, man 2 cachestat. In C the arguments after the number are variadic, as the last one of
/// `mremap`.
@_extern(c, "syscall") @discardableResult
func c_syscall(
  _ number: Int, _ first: UInt, _ second: UInt, _ third: UInt, _ fourth: UInt, _ fifth: UInt,
  _ sixth: UInt
) -> Int
