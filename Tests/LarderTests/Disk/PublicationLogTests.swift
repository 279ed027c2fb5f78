import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The published files that cannot prove their content, tested without threads or files.
@Suite("The log of publications")
struct PublicationLogTests {
  private let name = IndexSample.name(1)

  private func publication(_ number: Int = 1, expires seconds: Int64 = 100) -> Publication {
    Publication(contentHash: UInt64(number), modification: Timestamp(seconds: seconds))
  }

  private func status(expires seconds: Int64) -> FileStatus {
    IndexSample.status(of: IndexSample.entry(1, expires: seconds))
  }

  @Test(arguments: [(99, true), (100, true), (101, false)] as [(Int64, Bool)])
  func `a file with a later expiry is another one`(expires: Int64, isAdmitted: Bool) {
    #expect(publication().admits(status(expires: expires)) == isAdmitted)
  }

  @Test func `the latest file of a name is remembered`() {
    var log = PublicationLog()
    #expect(log[name] == nil)
    for number in 1...3 { log.note(publication(number), of: name, in: EntryIndex()) }
    #expect(log[name] == publication(3) && log.count == 1)
  }

  @Test func `a stamp of this process moves the expiry, and makes no file known`() {
    var log = PublicationLog()
    log.noteStamp(Timestamp(seconds: 200), of: name)
    #expect(log[name] == nil)
    log.note(publication(), of: name, in: EntryIndex())
    log.noteStamp(Timestamp(seconds: 200), of: name)
    #expect(log[name] == publication(expires: 200))
  }

  @Test func `files that are gone are forgotten bit by bit, and entries are not`() {
    let index = IndexSample.index((0..<10).map { IndexSample.entry($0) })
    var log = PublicationLog()
    for number in 0..<1_044 {
      log.note(publication(number), of: IndexSample.name(number), in: index)
    }
    #expect(log.count == 1_044)
    var largest = 0
    for number in 1_044..<5_000 {
      log.note(publication(number), of: IndexSample.name(number), in: index)
      largest = max(largest, log.count)
    }
    #expect(largest < 1_100)
    #expect((0..<10).allSatisfy { log[IndexSample.name($0)] == publication($0) })
  }
}
