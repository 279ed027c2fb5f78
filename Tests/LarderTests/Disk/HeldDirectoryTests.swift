import Testing

@testable import LarderDisk

/// The history of the directory that is held, tested without files.
@Suite("The directory that is held")
struct HeldDirectoryTests {
  @Test func `the first directory is no replacement, and its lock was taken at opening`() {
    let held = HeldDirectory()
    #expect(held.replacementCount == 0 && !held.mustLock)
  }

  @Test func `each replacement is counted and needs its lock anew`() {
    var held = HeldDirectory()
    for count in 1...3 {
      held.replace()
      #expect(held.replacementCount == count && held.mustLock)
      held.noteLock()
      #expect(held.replacementCount == count && !held.mustLock)
    }
  }

  @Test func `one lock is enough for two replacements in a row`() {
    var held = HeldDirectory()
    held.replace()
    held.replace()
    held.noteLock()
    #expect(held.replacementCount == 2 && !held.mustLock)
  }

  @Test func `a lock that is taken again changes nothing`() {
    var held = HeldDirectory()
    held.replace()
    held.noteLock()
    held.noteLock()
    #expect(held.replacementCount == 1 && !held.mustLock)
  }
}
