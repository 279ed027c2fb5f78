import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

struct `Trust in directories` {
  private let refusal = DirectoryLocation.refusal

  private func objection(
    _ mode: UInt32, owner: UInt32, group: UInt32 = 50, of user: UInt32 = 1000,
    sharesWithGroup: Bool = false
  ) -> Errno? {
    var raw = stat()
    raw.st_uid = owner
    raw.st_gid = group
    raw.st_mode = S_IFDIR | mode
    return DirectoryLocation.objection(
      to: FileStatus(raw), user: user, group: 1000, sharesWithGroup: sharesWithGroup,
      isMember: sharesWithGroup && group == 50)
  }

  @Test func `others own or can write to an unsafe directory`() {
    #expect(objection(0o700, owner: 1000) == nil && objection(0o755, owner: 1000) == nil)
    #expect(objection(0o700, owner: 1001) == refusal)
    #expect(objection(0o755, owner: 1001) == refusal)
    #expect(objection(0o1777, owner: 0) == refusal)
    #expect(objection(0o702, owner: 1000) == refusal)
    #expect(objection(0o770, owner: 1000, group: 51) == refusal)
    #expect(objection(0o770, owner: 1000, group: 1000) == nil)
    #expect(objection(0o2770, owner: 1001, sharesWithGroup: true) == nil)
    #expect(objection(0o2770, owner: 1001, group: 51, sharesWithGroup: true) == refusal)
    #expect(objection(0o700, owner: 1001, of: 0) == refusal)
  }

  @Test func `a directory in which root alone can store is root's`() {
    #expect(objection(0o755, owner: 0) == .permissionDenied)
    #expect(objection(0o700, owner: 0) == .permissionDenied)
    #expect(objection(0o2750, owner: 0, sharesWithGroup: true) == .permissionDenied)
    #expect(objection(0o755, owner: 0, of: 0) == nil)
    #expect(objection(0o2770, owner: 0, sharesWithGroup: true) == nil)
    #expect(objection(0o770, owner: 0, group: 1000) == nil)
  }

  @Test(.enabled(if: ProcessIdentity.user != 0))
  func `an ordinary user opens a directory of root's only to read it`() throws {
    let error = #expect(throws: CacheError.self) { try DiskCache(directory: "/") }
    #expect(error?.code == .permissionDenied)
    var configuration = DiskCache.Configuration()
    configuration.mode = .readOnly
    try DiskCache(directory: "/", configuration: configuration).close()
  }
}

struct `Trust in files` {
  private static let now = Timestamp(seconds: 1_800_000_000)

  private func trust(group: UInt32? = nil, enforcesExpiry: Bool = true) -> EntryTrust {
    EntryTrust(user: 1000, owners: { (1001, group) }, enforcesExpiry: enforcesExpiry)
  }

  private func status(
    owner: UInt32 = 1000, group: UInt32 = 50, mode: UInt32 = S_IFREG | 0o600, expiry: Int64 = 60
  ) -> FileStatus {
    var raw = stat()
    raw.st_uid = owner
    raw.st_gid = group
    raw.st_mode = mode
    raw.st_mtim.tv_sec = .init(Self.now.adding(seconds: expiry).seconds)
    return FileStatus(raw)
  }

  @Test(arguments: [
    (UInt32(1000), true), (1001, true), (0, true), (1002, false), (.max, false),
  ])
  func `files of the caller, the directory's owner and root count`(owner: UInt32, counts: Bool) {
    #expect(trust().isTrusted(status(owner: owner)) == counts)
    #expect(trust(group: 50).isTrusted(status(owner: owner)))
    #expect(trust(group: 51).isTrusted(status(owner: owner)) == counts)
  }

  @Test func `type comes before owner, and owner before expiry`() {
    let link = status(owner: 7, mode: S_IFLNK | 0o777, expiry: -1)
    #expect(trust().missReason(for: link, pending: nil, now: Self.now) == .foreign)
    let other = status(owner: 7, expiry: -1)
    #expect(trust().missReason(for: other, pending: nil, now: Self.now) == .otherOwner)
    let expired = status(expiry: 0)
    #expect(trust().missReason(for: expired, pending: nil, now: Self.now) == .expired)
    #expect(trust().missReason(for: status(), pending: nil, now: Self.now) == nil)
  }

  @Test func `a pending extension keeps an entry alive, and a fixture's never expires`() {
    let expired = status(expiry: -1)
    let pending = Self.now.adding(seconds: 1)
    #expect(trust().missReason(for: expired, pending: pending, now: Self.now) == nil)
    let fixture = trust(enforcesExpiry: false)
    #expect(fixture.missReason(for: expired, pending: nil, now: Self.now) == nil)
  }

  @Test(arguments: [1 << 33, 1 << 34, .max] as [Int64])
  func `never has not come at any time`(seconds: Int64) {
    let never = status(expiry: (1 << 33) - Self.now.seconds)
    let now = Timestamp(seconds: seconds)
    #expect(trust().missReason(for: never, pending: nil, now: now) == nil)
  }
}
