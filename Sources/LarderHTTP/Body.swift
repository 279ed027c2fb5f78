import Larder

extension HTTPCache {
  /// The body of a response: a sequence of pieces that can be read once.
  ///
  /// A body that ends early throws, so that a server closes the connection without ending the body.
  public struct Body: Sendable, AsyncSequence {
    /// The most bytes that are read of a file at once.
    static let pieceSize = 64 << 10

    /// The whole body, if it is in memory.
    public private(set) var bytes: [UInt8]?
    private var place: (file: EntryFileReader, range: Range<Int>)?
    private(set) var stream: (@Sendable () async throws -> [UInt8]?)?
    /// The bytes of the body; nil if only its end will tell.
    public let byteCount: Int?

    /// Creates a body that is in memory.
    public init(_ bytes: [UInt8]) { (self.bytes, byteCount) = (bytes, bytes.count) }

    /// Creates a body that comes in pieces.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes that the origin has announced, or nil.
    ///   - next: Returns the next piece, and nil at the end, for which the origin has to have said
    ///     that there is no more: a part would be stored as a whole body. Called by one task at a
    ///     time.
    public init(byteCount: Int?, next: @escaping @Sendable () async throws -> [UInt8]?) {
      (self.byteCount, stream) = (byteCount, next)
    }

    /// Creates a body of the pieces of a sequence, such as that of an HTTP client.
    public init<Pieces: AsyncSequence & Sendable>(byteCount: Int?, _ pieces: Pieces)
    where Pieces.Element == [UInt8] {
      self.init(byteCount: byteCount, next: Puller(pieces, byteCount).next)
    }

    init(_ file: EntryFileReader, _ range: Range<Int>? = nil) {
      (place, byteCount) = ((file, range ?? 0..<file.byteCount), range?.count ?? file.byteCount)
    }

    /// The open file that holds the body and the body's place in it, for `sendfile`.
    ///
    /// The descriptor stays open for as long as this body or a copy of it exists.
    public var file: (descriptor: Int32, range: Range<Int>)? {
      place.map { ($0.file.descriptor, $0.range) }
    }

    /// Reads a body in pieces of at most 64 KiB if it is in a file, and as they come otherwise.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let body: Body
      private(set) var offset = 0

      /// Returns the next piece; nil at the end.
      ///
      /// - Throws: The origin's error; ``HTTPCache/BodyError``; `CancellationError` if the task is
      ///   cancelled and a body without an announced length seems to end.
      public mutating func next() async throws -> [UInt8]? {
        if let stream = body.stream { return try await stream() }
        guard let rest = body.byteCount.map({ $0 - offset }), rest > 0 else { return nil }
        var piece = body.bytes ?? []
        if let (file, range) = body.place {
          piece = try await file.read(
            at: range.lowerBound + offset, upTo: Swift.min(Body.pieceSize, rest))
        }
        offset += piece.count
        return piece.isEmpty ? nil : piece
      }
    }

    /// Returns an iterator; the pieces of a stream are read once in all.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

    /// Returns a part of a body that is in memory or in a file.
    func part(_ range: Range<Int>) -> Self {
      if let bytes { return Self(Array(bytes[range.clamped(to: bytes.indices)])) }
      return place.map { Self($0, $1.dropFirst(range.lowerBound).prefix(range.count)) } ?? self
    }
  }

  /// Why a body cannot be read to its end.
  public enum BodyError: Error, Sendable, Hashable {
    /// More or fewer bytes came than were announced.
    case wrongLength
    /// Another task is waiting for a piece of the body.
    case readAtOnce
  }
}

/// The iterator of a sequence, which several tasks may hold. It throws at a wrong length.
actor Puller<Pieces: AsyncSequence & Sendable> where Pieces.Element == [UInt8] {
  private var iterator: Pieces.AsyncIterator?
  /// The bytes that have been announced and have not come.
  private var rest: Int?
  private var isReading = false

  init(_ body: Pieces, _ rest: Int?) { (iterator, self.rest) = (body.makeAsyncIterator(), rest) }

  func next() async throws -> [UInt8]? {
    if isReading { throw HTTPCache.BodyError.readAtOnce }
    var taken = iterator.take()
    isReading = true
    defer { (iterator, isReading) = (taken, false) }
    let piece = try await taken?.next(isolation: self)
    rest = rest.map { $0 - (piece?.count ?? 0) }
    if let rest, rest < 0 || piece == nil && rest > 0 { throw HTTPCache.BodyError.wrongLength }
    return piece
  }
}
