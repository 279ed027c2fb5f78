// The adapter of the guide InAServer for AsyncHTTPClient.
import AsyncHTTPClient
import Larder
import NIOCore
import NIOHTTP1

struct Downloads: Sendable {
  let files: Cache<[UInt8]>
  let client: HTTPClient

  /// The origin has refused with a status, or has cut its response off: 502.
  struct Refused: Error {
    let status: HTTPResponseStatus
  }

  func withFile<Result>(
    of url: String, _ body: (EntryFileReader) async throws -> Result
  ) async throws -> Result {
    try await files.withFile(forKey: url, body) { writer in
      let response = try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(5))
      guard response.status == .ok else { throw Refused(status: response.status) }
      do {
        for try await piece in response.body { try await writer.write(Array(buffer: piece)) }
      } catch let error where !(error is CacheError || error is CancellationError) {
        throw Refused(status: .badGateway)
      }
    }
  }
}
