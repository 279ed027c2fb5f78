import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct `The table of locks` {
  private let table = """
    1: FLOCK  ADVISORY  WRITE 708 08:01:786446 0 EOF
    1: -> FLOCK  ADVISORY  WRITE 900 08:01:786446 0 EOF
    2: POSIX  ADVISORY  READ  709 08:01:786446 128 128
    3: FLOCK  ADVISORY  READ  710 fe:03:11 0 EOF
    4: FLOCK  ADVISORY  READ  711 fe:03:11 0 EOF
    5: FLOCK  ADVISORY  READ  711 fe:03:11 0 EOF
    6: FLOCK  ADVISORY  WRITE 712 08:01:11 0 EOF
    7: FLOCK  ADVISORY  WRITE 0 08:01:12 0 EOF
    rubbish 1 2 3 4 5 6
    """

  @Test(arguments: [
    (0x801 as UInt64, 786_446 as UInt64, [708]), (0xfe03, 11, [710, 711]), (0x801, 11, [712]),
    (0x801, 12, []), (0x801, 13, []),
  ])
  func `tells who holds a file, not who waits for it or holds a part`(
    device: UInt64, inode: UInt64, holders: [Int]
  ) {
    #expect(LockTable.holders(of: FileIdentity(device: device, inode: inode), in: table) == holders)
  }

  @Test func `is searched by inode alone where the filesystem shows another device`() {
    #expect(LockTable.holders(of: FileIdentity(device: 77, inode: 786_446), in: table) == [708])
  }
}
