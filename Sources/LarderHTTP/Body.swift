import Larder

extension HTTPCache {
  /// The body of a response: a sequence of pieces that can be read once.
  ///
  /// A body that ends early throws, so that a server closes the connection instead of ending the
  /// message.
  public struct Body: Sendable {
    enum Content: Sendable {
      case bytes([UInt8])
      case file(EntryFileReader, Range<Int>)
      case stream(@Sendable () async throws -> [UInt8]?)
    }

    let content: Content
    /// The bytes of the body; nil if only its end will tell.
    public let byteCount: Int?

    /// Creates a body that is in memory.
    public init(_ bytes: [UInt8]) {
      content = .bytes(bytes)
      byteCount = bytes.count
    }

    /// Creates a body that comes in pieces.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes that the origin has announced, or nil.
    ///   - next: Returns the next piece, and nil at the end. Called by one task at a time.
    public init(byteCount: Int?, next: @escaping @Sendable () async throws -> [UInt8]?) {
      content = .stream(next)
      self.byteCount = byteCount
    }

    /// Creates a body of the pieces of a sequence, such as that of an HTTP client.
    public init<Pieces: AsyncSequence & Sendable>(byteCount: Int?, _ pieces: Pieces)
    where Pieces.Element == [UInt8] {
      let puller = Puller(pieces)
      self.init(byteCount: byteCount) { try await puller.next() }
    }

    init(_ file: EntryFileReader, _ range: Range<Int>) {
      content = .file(file, range)
      byteCount = range.count
    }

    /// The whole body, if it is in memory.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = content { bytes } else { nil } }

    /// The open file that holds the body and the body's place in it, for `sendfile`.
    ///
    /// The descriptor stays open for as long as this body or a copy of it exists.
    public var file: (descriptor: Int32, range: Range<Int>)? {
      if case .file(let reader, let range) = content { (reader.descriptor, range) } else { nil }
    }
  }

  /// The iterator of a sequence, which several tasks may hold.
  private actor Puller<Pieces: AsyncSequence & Sendable> where Pieces.Element == [UInt8] {
    private var iterator: Pieces.AsyncIterator?

    init(_ pieces: Pieces) { iterator = pieces.makeAsyncIterator() }

    func next() async throws -> [UInt8]? {
      guard var taken = iterator.take() else { return nil }
      defer { iterator = taken }
      return try await taken.next(isolation: self)
    }
  }

  /// What is wrong with a body.
  public enum BodyError: Error, Sendable, Hashable {
    /// More or fewer bytes came than were announced.
    case wrongLength
  }
}

extension HTTPCache.Body: AsyncSequence {
  /// Reads a body in pieces of at most 64 KiB if it is in a file, and as they come otherwise.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let content: Content
    private(set) var offset = 0

    /// Returns the next piece; nil at the end.
    ///
    /// - Throws: The origin's error; ``HTTPCache/BodyError`` for another length than announced.
    public mutating func next() async throws -> [UInt8]? {
      let piece: [UInt8]
      switch content {
      case .stream(let next): return try await next()
      case .bytes(let bytes): piece = offset == 0 ? bytes : []
      case .file(_, let range) where offset == range.count: return nil
      case .file(let reader, let range):
        let count = Swift.min(64 << 10, range.count - offset)
        piece = try await reader.read(at: range.lowerBound + offset, upTo: count)
      }
      offset += piece.count
      return piece.isEmpty ? nil : piece
    }
  }

  /// Returns an iterator; the pieces of a stream are read once in all.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(content: content) }

  /// Returns a part of a body that is in memory or in a file.
  func part(_ range: Range<Int>) -> Self {
    switch content {
    case .bytes(let bytes): Self(Array(bytes[range]))
    case .file(let file, let whole):
      Self(file, whole.dropFirst(range.lowerBound).prefix(range.count))
    case .stream: self
    }
  }
}
