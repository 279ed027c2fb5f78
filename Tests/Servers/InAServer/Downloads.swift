// The adapter of the guide InAServer for AsyncHTTPClient.
import AsyncHTTPClient
import Larder
import NIOCore
import NIOHTTP1

struct Downloads: Sendable {
  let files: Cache<[UInt8]>
  let client: HTTPClient

  /// The origin has refused with a status; 502 for what is no plain and whole file.
  struct Refused: Error {
    let status: HTTPResponseStatus
  }

  func withFile<Result>(
    of url: String, _ body: (EntryFileReader) async throws -> Result
  ) async throws -> Result {
    try await files.withFile(forKey: url, body) { writer in
      let response = try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(5))
      let hasCoding = response.headers.contains(name: "content-encoding")
      guard response.status == .ok, !hasCoding else {
        let isError = response.status.code >= 400
        throw Refused(status: isError ? response.status : .badGateway)
      }
      do {
        for try await piece in response.body { try await writer.write(Array(buffer: piece)) }
      } catch let error where !(error is CacheError || error is CancellationError) {
        throw Refused(status: .badGateway)
      }
    }
  }
}
