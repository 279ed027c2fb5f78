/// The two halves of a device number, as the tables in `/proc` show them.
struct DeviceNumber: Sendable, Hashable {
  let major: UInt64
  let minor: UInt64

  /// Takes apart what `stat` says. Corresponds to `gnu_dev_major` and `gnu_dev_minor`; source:
  /// glibc's sys/sysmacros.h.
  init(_ device: UInt64) {
    major = device >> 8 & 0xfff | device >> 32 & ~0xfff
    minor = device & 0xff | device >> 12 & ~0xff
  }
}
