// The server of the guide CachingHTTPResponses.
import AsyncHTTPClient
import Hummingbird
import LarderHTTP

@main
struct Server {
  static func main() async throws {
    let (origin, directory) = (CommandLine.arguments[1], CommandLine.arguments[2])
    let port = Int(CommandLine.arguments[3]) ?? 8080

    var settings = HTTPCache.Configuration()
    settings.cacheStatusName = "app"
    let cache = try HTTPCache(directory: directory, configuration: settings)

    var clientSettings = HTTPClient.Configuration(
      redirectConfiguration: .disallow, decompression: .disabled)
    clientSettings.timeout.connect = .seconds(2)  // also the longest wait for one of these:
    clientSettings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
    clientSettings.timeout.read = .seconds(60)
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: clientSettings)
    let responder = CachingResponder(
      cache: cache, client: client, origins: ["example.org": origin], standard: "example.org")

    let router = Router()
    router.get("/health") { _, _ in "well" }
    let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
    for method in methods {
      router.on("/", method: method, responder: responder)
      router.on("/**", method: method, responder: responder)
    }

    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
    try await application.runService()  // until SIGTERM or SIGINT
    try await client.shutdown()
    try await cache.close()
  }
}
