import Testing

@testable import LarderDisk

/// The history of the directory that is held, tested without files.
@Suite("The directory that is replacements")
struct ReplacementLogTests {
  @Test func `the first directory is no replacement, and its lock was taken at opening`() {
    let replacements = ReplacementLog()
    #expect(replacements.count == 0 && !replacements.mustLock)
  }

  @Test func `each replacement is counted and needs its lock anew`() {
    var replacements = ReplacementLog()
    for count in 1...3 {
      replacements.replace()
      #expect(replacements.count == count && replacements.mustLock)
      replacements.noteLock()
      #expect(replacements.count == count && !replacements.mustLock)
    }
  }

  @Test func `one lock is enough for two replacements in a row`() {
    var replacements = ReplacementLog()
    replacements.replace()
    replacements.replace()
    replacements.noteLock()
    #expect(replacements.count == 2 && !replacements.mustLock)
  }

  @Test func `a lock that is taken again changes nothing`() {
    var replacements = ReplacementLog()
    replacements.replace()
    replacements.noteLock()
    replacements.noteLock()
    #expect(replacements.count == 1 && !replacements.mustLock)
  }
}
