import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct MemoryOrderTests {
  private func filled(_ range: Range<Int>, limit: Int? = nil) -> MemoryCache<Int, Int> {
    let cache = MemoryCache<Int, Int>(.init(countLimit: limit))
    for key in range { cache.store(key * 10, forKey: key) }
    return cache
  }

  @Test
  func `a hit moves an entry to the front`() {
    let cache = filled(0..<5)
    #expect(cache.value(forKey: 2) == 20)
    #expect(cache.keys == [2, 4, 3, 1, 0])
    #expect(cache.values == [20, 40, 30, 10, 0])
  }

  @Test(arguments: [0, 2, 4])
  func `a hit anywhere leaves the others in their order`(_ key: Int) {
    let cache = filled(0..<5)
    #expect(cache.value(forKey: key) != nil)
    #expect(cache.keys == [key] + [4, 3, 2, 1, 0].filter { $0 != key })
    cache.checkInvariants()
  }

  @Test
  func `a store under an old key moves it to the front`() {
    let cache = filled(0..<3)
    cache.store(7, forKey: 0)
    #expect(cache.keys == [0, 2, 1])
    #expect(cache[0] == 7)
    #expect(cache.count == 3)
  }

  @Test
  func `peek, contains, keys and values are no use and count nothing`() {
    let cache = filled(0..<4)
    let before = cache.statistics
    #expect(cache.peek(0) == 0)
    #expect(cache.peek(9) == nil)
    #expect(cache.contains(1))
    #expect(!cache.contains(9))
    #expect(cache.keys == [3, 2, 1, 0])
    #expect(cache.values == [30, 20, 10, 0])
    #expect(cache.keys == [3, 2, 1, 0])
    #expect(cache.statistics == before)
  }

  @Test
  func `the least recently used goes first`() {
    let cache = filled(0..<3, limit: 3)
    _ = cache.value(forKey: 0)
    cache.store(30, forKey: 3)
    #expect(cache.keys == [3, 0, 2])
    cache.store(40, forKey: 4)
    #expect(cache.keys == [4, 3, 0])
  }

  @Test
  func `a cache of one entry keeps the last`() {
    let cache = filled(0..<100, limit: 1)
    #expect(cache.keys == [99])
    cache.checkInvariants()
  }

  @Test
  func `the subscript stores, reads and removes`() {
    let cache = MemoryCache<String, Int>()
    cache["a"] = 1
    cache["b"] = 2
    #expect(cache["a"] == 1)
    #expect(cache.keys == ["a", "b"])
    cache["a"] = nil
    #expect(cache["a"] == nil)
    #expect(cache.count == 1)
  }

  @Test
  func `removed slots are used again`() {
    let cache = MemoryCache<Int, Int>()
    for round in 0..<50 {
      for key in 0..<20 { cache.store(round, forKey: key) }
      for key in 0..<20 where key % 3 != round % 3 { #expect(cache.remove(forKey: key)) }
      cache.checkInvariants()
    }
  }

  @Test
  func `removing says whether there was something`() {
    let cache = filled(0..<2)
    #expect(cache.remove(forKey: 1))
    #expect(!cache.remove(forKey: 1))
    #expect(!cache.remove(forKey: 5))
    #expect(cache.removeAll() == 1)
    #expect(cache.removeAll() == 0)
    #expect(cache.keys.isEmpty)
    cache.store(3, forKey: 3)
    #expect(cache.keys == [3])
    cache.checkInvariants()
  }

  @Test
  func `a large cache that was emptied gives its memory back and stays right`() {
    let cache = filled(0..<20_000)
    #expect(cache.trim(toCount: 10) == 19_990)
    cache.checkInvariants()
    #expect(cache.keys == Array((19_990..<20_000).reversed()))
    for key in 19_990..<20_000 { #expect(cache.value(forKey: key) == key * 10) }
    for key in 0..<3_000 { cache.store(key, forKey: key) }
    cache.checkInvariants()
    #expect(cache.count == 3_010)
  }

  @Test
  func `canonically equivalent texts are one String key and two CacheKeys`() {
    let texts = MemoryCache<String, Int>()
    let keys = MemoryCache<CacheKey, Int>()
    for (value, text) in ["caf\u{e9}", "cafe\u{301}"].enumerated() {
      texts.store(value, forKey: text)
      keys.store(value, forKey: CacheKey(text))
    }
    #expect(texts.values == [1])
    #expect(keys.values == [1, 0])
  }
}
