// The route of the guide InAServer for large files.
import Hummingbird
import Larder
import NIOCore

func addDownloads(to router: Router<BasicRequestContext>, _ downloads: Downloads) {
  router.get("/files/:name") { _, context in
    let url = "http://origin.example/\(try context.parameters.require("name"))"
    let byteCount: Int
    do {
      // Loads it if it is not there. If the origin fails, that throws before the response begins.
      byteCount = try await downloads.withFile(of: url) { $0.byteCount }
    } catch let error as Downloads.Refused {
      throw HTTPError(.init(code: Int(error.status.code)))
    }
    let body = ResponseBody(contentLength: byteCount) { writer in
      try await downloads.withFile(of: url) { file in
        guard file.byteCount == byteCount else { throw Downloads.Refused(status: .badGateway) }
        for try await piece in file { try await writer.write(ByteBuffer(bytes: piece)) }
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, body: body)
  }
}
