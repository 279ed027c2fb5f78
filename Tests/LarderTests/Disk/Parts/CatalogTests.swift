import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// The knowledge of a directory's files, tested without files.
struct `The catalog` {
  private let name = IndexSample.name(1)
  private let entry = IndexSample.entry(1)

  /// Returns a catalog that knows entry 1, whose use is pending, during a second scan.
  private func scanning() -> Catalog {
    var catalog = Catalog()
    catalog.scans.end(catalog.scans.begin(), .finished)
    _ = catalog.adopt(entry, order: .byLastAccess)
    catalog.uses.note(name, IndexSample.status(of: entry), expiry: Timestamp(seconds: 900))
    catalog.scans.beginReading(catalog.scans.begin(), catalog.index.emptyMarks())
    return catalog
  }

  /// Entry 1 in another state.
  private var changed: IndexedEntry {
    var changed = entry
    changed.changeTime = Timestamp(seconds: 70)
    return changed
  }

  @Test func `a file that becomes an entry voids what was pending of the file before`() {
    var (catalog, changed) = (scanning(), changed)
    changed.inode = 9
    let (isReplacing, isNew) = (
      catalog.adopt(changed, order: .mostRecent),
      !catalog.adopt(IndexSample.entry(2), order: .mostRecent)
    )
    #expect(isReplacing && isNew && catalog.index.totals.count == 2 && catalog.uses.isEmpty)
    #expect(catalog.index.entry(named: name)?.changeTime == changed.changeTime)
  }

  @Test func `nothing is left of a name whose file is gone`() {
    var catalog = scanning()
    catalog.remove(name)
    #expect(catalog.index.totals.count == 0 && catalog.uses.isEmpty)
  }

  @Test func `a stamp moves the change time of an entry, and keeps the use`() {
    var catalog = scanning()
    let isChanged = catalog.restamp(
      name, from: IndexSample.status(of: entry, changed: entry.changeTime),
      to: IndexSample.status(of: entry, changed: Timestamp(seconds: 70)))
    #expect(!isChanged)
    #expect(catalog.index.entry(named: name)?.changeTime == Timestamp(seconds: 70))
    #expect(!catalog.uses.isEmpty)
  }

  @Test func `a use leaves a later expiry that a touch in the same tick has set`() throws {
    var (catalog, seen, touched) = (Catalog(), entry, entry)
    (seen.expiry, touched.expiry) = (Timestamp(seconds: 900), Timestamp(seconds: 1_400))
    _ = catalog.adopt(touched, order: .byLastAccess)
    let slot = try #require(catalog.index.slot(of: name))
    let kept = catalog.use(
      slot, of: name, IndexSample.status(of: seen), at: Timestamp(seconds: 9), isDue: true,
      extended: nil)
    #expect(kept == seen.expiry)
    #expect(catalog.index.entry(named: name)?.expiry == touched.expiry)
  }

  @Test func `a file that is not the one known is not stamped`() {
    var catalog = scanning()
    var other = entry
    other.inode += 1
    let isChanged = catalog.restamp(
      name, from: IndexSample.status(of: other, changed: Timestamp(seconds: 60)),
      to: IndexSample.status(of: other, changed: Timestamp(seconds: 70)))
    #expect(!isChanged)
    #expect(catalog.index.entry(named: name) == entry)
  }

  // The file may have been edited between the look at it and the stamp.
  @Test(arguments: [true, false])
  func `a stamp leaves nothing verified, and the last use that was counted`(hadChanged: Bool) {
    var (catalog, known) = (Catalog(), entry)
    known.check = FileCheck(lifetime: .seconds(9), keyTag: 5, hasData: false)
    known.lastAccess = Timestamp(seconds: 9)
    _ = catalog.adopt(known, order: .mostRecent)
    let earlier = hadChanged ? Timestamp(seconds: 70) : known.changeTime
    (known.changeTime, known.expiry) = (Timestamp(seconds: 80), Timestamp(seconds: 90))
    (known.check, known.lastAccess) = (nil, Timestamp(seconds: 3))
    let isChanged = catalog.restamp(
      name, from: IndexSample.status(of: known, changed: earlier),
      to: IndexSample.status(of: known))
    // A read may have met the stamped file, and counted its use, before the stamp was settled.
    known.lastAccess = Timestamp(seconds: 9)
    #expect(isChanged == hadChanged)
    #expect(catalog.index.entry(named: name) == known)
  }

  // An edit moves the modification, which the stamp of a last access leaves alone.
  @Test(arguments: [(true, true, false), (true, false, true), (false, true, true)])
  func `a stamp of the last access alone leaves verified what was not edited`(
    isForAccess: Bool, hasSameExpiry: Bool, hadChanged: Bool
  ) {
    for hadChanged in [hadChanged, false] {
      var (catalog, known) = (Catalog(), entry)
      known.check = FileCheck(lifetime: .seconds(9), keyTag: 5, hasData: false)
      _ = catalog.adopt(known, order: .mostRecent)
      var before = known
      if !hasSameExpiry { before.expiry = known.expiry.adding(seconds: -1) }
      let earlier = hadChanged ? Timestamp(seconds: 70) : known.changeTime
      _ = catalog.restamp(
        name, from: IndexSample.status(of: before, changed: earlier),
        to: IndexSample.status(of: known, changed: Timestamp(seconds: 80)),
        isForAccess: isForAccess)
      let isVerified = catalog.index.entry(named: name)?.check != nil
      #expect(isVerified == (isForAccess && hasSameExpiry && !hadChanged))
    }
  }

  @Test func `the removal of everything leaves the scan`() {
    var catalog = scanning()
    catalog.removeAll()
    #expect(catalog.index.totals.count == 0 && catalog.uses.isEmpty)
    #expect(catalog.scans.isComplete && !catalog.scans.isOngoing)
  }

  @Test(arguments: [true, false])
  func `a use of a verified file counts at once, and waits for its stamp if it is due`(
    isDue: Bool
  ) {
    var catalog = scanning()
    catalog.uses = UseLog()
    var verified = entry
    verified.check = FileCheck(lifetime: .never, keyTag: 5, hasData: false)
    catalog.index.upsert(verified, order: .byLastAccess)
    catalog.index.upsert(IndexSample.entry(2), order: .mostRecent)
    let status = IndexSample.status(of: entry)
    let known = catalog.index.verified(
      name, inode: entry.inode, changeTime: entry.changeTime, keyTag: 5)
    guard let known else {
      Issue.record("the entry is verified")
      return
    }
    let access = Timestamp(seconds: 50)
    let expiry = catalog.use(
      known.slot, of: name, status, at: access, isDue: isDue, extended: nil)
    #expect(expiry == .never && catalog.index.numbers() == [2, 1])
    #expect(catalog.index.entry(named: name)?.lastAccess == access)
    #expect(catalog.takeUse(of: name)?.access == (isDue ? access : nil))
  }

  @Test func `a use keeps the later expiry that an earlier use has promised`() throws {
    var catalog = Catalog()
    let short = IndexSample.entry(1, expires: 300)
    let status = IndexSample.status(of: short)
    catalog.index.upsert(short, order: .mostRecent)
    let slot = try #require(catalog.index.slot(of: name))
    let later = Timestamp(seconds: 10)
    catalog.uses.note(name, status, expiry: Timestamp(seconds: 900))
    let promised = catalog.use(slot, of: name, status, at: later, isDue: false, extended: nil)
    #expect(promised == Timestamp(seconds: 900))
    #expect(catalog.index.entry(named: name)?.expiry == Timestamp(seconds: 900))
    // Another expiry was set since, so the promise is void.
    let other = IndexSample.status(of: IndexSample.entry(1, expires: 400))
    let expiry = catalog.use(slot, of: name, other, at: later, isDue: false, extended: nil)
    #expect(expiry == Timestamp(seconds: 400))
  }
}
