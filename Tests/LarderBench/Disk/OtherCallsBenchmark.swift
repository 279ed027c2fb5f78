import Glibc
import Larder

/// The two ways by which the cache stores, beside each other under a free and a taken name: by a
/// temporary, and by a file without a name; and one call for many removals.
///
/// Both sides take turns, so that a ratio below 1 speaks for the second side.
enum OtherCallsBenchmark {
  static let usage = """
    usage: LarderBench other-calls DIR

      In microseconds, for files of 1 KiB in DIR: a store by a temporary that is locked and renamed,
      beside one by O_TMPFILE and a link; unlink, beside io_uring in batches of 64, and of 1,024.
    """

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    guard arguments.count == 1 else { throw UsageError() }
    let descriptors = ["named", "nameless"].map { name in
      let path = "\(arguments[0])/\(name)"
      _ = unsafe mkdir(path, 0o700)
      return RawCalls.openDirectory(path)
    }
    defer { for descriptor in descriptors { close(descriptor) } }
    let rings = unsafe [64, 1024].map { unsafe UnlinkRing(entries: UInt32($0)) }
    var results = [[Double]](repeating: [], count: 8)
    for _ in 0..<5 {
      for isOver in [false, true] {
        let times = Interleaving().run(
          count, { store($0, descriptors[0], isNameless: false, isOver) },
          least: { store($0, descriptors[1], isNameless: true, isOver) })
        add(times, to: &results, isOver ? 2 : 0)
      }
      for number in unsafe rings.indices {
        let ring = unsafe rings[number]
        if number > 0 {
          for descriptor in descriptors { store(0..<count, descriptor, isNameless: false, false) }
        }
        let times = Interleaving(pieceCount: unsafe ring.entryCount).run(
          count, { unlinkEach($0, descriptors[0]) },
          least: { unsafe ring.unlink($0, descriptors[1]) })
        add(times, to: &results, 4 + 2 * number)
      }
    }
    let medians = results.map(\.median)
    let rows = ["store, new", "store, over", "unlink, 64 at once", "unlink, 1,024 at once"]
    for (row, title) in rows.enumerated() {
      let (named, other) = (medians[2 * row], medians[2 * row + 1])
      print(
        "\(title): \(named.rounded(to: 1)), the other \(other.rounded(to: 1)),",
        "ratio \((other / named).rounded(to: 2))")
    }
    for name in ["named", "nameless"] { _ = unsafe rmdir("\(arguments[0])/\(name)") }
  }

  private static let count = 16_384
  private static let value = [UInt8](repeating: 7, count: 1024)
  private static let names = (0..<count).map { number in
    Array("\(UInt64(number) &* 0x9e37_79b9_7f4a_7c15)".utf8CString)
  }

  private static func add(_ times: Interleaving.Times, to results: inout [[Double]], _ row: Int) {
    results[row].append(times.ours / .microseconds(count))
    results[row + 1].append(times.least / .microseconds(count))
  }

  private static func unlinkEach(_ range: Range<Int>, _ directory: Int32) {
    for number in range { unsafe RawCalls.remove(directory, names[number]) }
  }

  private static func store(
    _ range: Range<Int>, _ directory: Int32, isNameless: Bool, _ isOver: Bool
  ) {
    for number in range {
      let file =
        unsafe isNameless
        ? openat(directory, ".", O_RDWR | temporaryFile | O_CLOEXEC, mode_t(0o600))
        : openat(directory, ".raw", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
      if file < 0 { RawCalls.failed("openat") }
      // A file without a name dies with its process, so that nobody asks whether its maker lives.
      if !isNameless, flock(file, LOCK_EX | LOCK_NB) != 0 { RawCalls.failed("flock") }
      if unsafe write(file, value, value.count) != value.count { RawCalls.failed("write") }
      let times = [timespec(tv_sec: 1_800_000_000, tv_nsec: 0)]
      if unsafe futimens(file, times + times) != 0 { RawCalls.failed("futimens") }
      if isNameless {
        // A link replaces nothing, so that a store over another file makes a name all the same.
        let code =
          unsafe isOver
          ? linkat(file, "", directory, ".raw", emptyPath)
          : linkat(file, "", directory, names[number], emptyPath)
        if code != 0 { RawCalls.failed("linkat") }
      }
      if !isNameless || isOver {
        let code = unsafe renameat(directory, ".raw", directory, names[number])
        if code != 0 { RawCalls.failed("renameat") }
      }
      close(file)
    }
  }

  // `AT_EMPTY_PATH` of linux/fcntl.h, for root, and for everyone since Linux 6.10.
  private static let emptyPath: Int32 = 0x1000
  // `O_TMPFILE` of asm-generic/fcntl.h, which Glibc's module lacks: `__O_TMPFILE | O_DIRECTORY`.
  private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY

  /// An `io_uring` that unlinks names. See: man 7 io_uring, man 2 io_uring_setup.
  @unsafe private struct UnlinkRing {
    private typealias Syscall =
      @convention(c) (Int, UInt, UInt, UInt, UInt, UInt, UInt) -> Int

    private let syscall: Syscall
    private let ring: Int32
    private let queues: UnsafeMutableRawPointer
    private let entries: UnsafeMutableRawPointer
    private let offsets: [UInt32]
    var entryCount: Int { unsafe Int(offsets[0]) }

    init(entries count: UInt32) {
      guard let symbol = unsafe dlsym(nil, "syscall") else { fail("no syscall in libc", 4) }
      let call = unsafe unsafeBitCast(symbol, to: Syscall.self)
      // A `struct io_uring_params` of linux/io_uring.h, in words. Twice the completions.
      var words = [UInt32](repeating: 0, count: 30)
      let code = unsafe words.withUnsafeMutableBytes { words in
        call(425, UInt(count), UInt(bitPattern: words.baseAddress), 0, 0, 0, 0)
      }
      if code < 0 { RawCalls.failed("io_uring_setup") }
      unsafe (ring, offsets, syscall) = (Int32(code), words, call)
      let byteCount = max(Int(words[16] + words[0] * 4), Int(words[25] + words[1] * 16))
      unsafe queues = unsafe Self.map(ring, byteCount, 0)
      unsafe entries = unsafe Self.map(ring, Int(words[0]) * 64, 0x1000_0000)
    }

    private static func map(
      _ ring: Int32, _ byteCount: Int, _ offset: Int
    ) -> UnsafeMutableRawPointer {
      let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset)
      guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { RawCalls.failed("mmap") }
      return unsafe memory
    }

    /// The word of a queue at an offset that the kernel has told.
    private func word(_ index: Int) -> UnsafeMutablePointer<UInt32> {
      unsafe (queues + Int(offsets[index])).assumingMemoryBound(to: UInt32.self)
    }

    /// Unlinks the names of a range by one call, and waits for all.
    func unlink(_ range: Range<Int>, _ directory: Int32) {
      // In the words of the parameters: the tail is 11, the mask 12 and the array 16.
      let (tail, mask) = unsafe (word(11), word(12).pointee)
      for number in range {
        let slot = Int(unsafe tail.pointee & mask)
        let entry = unsafe entries + slot * 64
        unsafe memset(entry, 0, 64)
        // IORING_OP_UNLINKAT, the directory, and the address of a name that lives on.
        unsafe entry.storeBytes(of: 36, as: UInt8.self)
        unsafe entry.storeBytes(of: directory, toByteOffset: 4, as: Int32.self)
        unsafe names[number].withUnsafeBufferPointer {
          unsafe entry.storeBytes(
            of: UInt64(UInt(bitPattern: $0.baseAddress)), toByteOffset: 16, as: UInt64.self)
        }
        unsafe word(16)[slot] = UInt32(slot)
        unsafe tail.pointee &+= 1
      }
      // IORING_ENTER_GETEVENTS. The call orders the words above before it, and those below after.
      let count = UInt(range.count)
      let code = unsafe syscall(426, UInt(bitPattern: Int(ring)), count, count, 1, 0, 0)
      if code != range.count { RawCalls.failed("io_uring_enter") }
      if unsafe word(21).pointee &- word(20).pointee != UInt32(range.count) {
        fail("LarderBench: completions are missing", 4)
      }
      // The head of the completions is 20, their mask 22, and they begin at 25.
      let head = unsafe word(20)
      for _ in range {
        let place = unsafe Int(offsets[25]) + Int(head.pointee & word(22).pointee) * 16 + 8
        let result = unsafe (queues + place).load(as: Int32.self)
        if result != 0 { fail("LarderBench: unlinkat by io_uring: \(-result)", 4) }
        unsafe head.pointee &+= 1
      }
    }
  }
}
