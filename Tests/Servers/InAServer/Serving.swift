import Foundation
import Hummingbird
import Larder
import Logging

/// A server of sessions with what the guide InAServer shows: `PUT`, `POST`, `GET` and `DELETE` of
/// `/KEY`, `PUT` and `POST` with `?expires=SECONDS`. Prints "listening", and "closed" at its end if
/// that is so.
func serve(_ directory: String, _ port: Int) async throws {
  var logger = Logger(label: "adapters")
  logger.logLevel = .error
  let disk = try DiskCache(directory: "\(directory)/sessions")
  let pages = try Cache(directory: "\(directory)/pages", coder: .string)
  let persist = DiskPersistDriver(disk: disk)
  var application = Application(
    router: routes(persist, pages),
    configuration: .init(address: .hostname("127.0.0.1", port: port)),
    onServerRunning: { _ in
      print("listening")
      fflush(nil)
    }, logger: logger)
  application.addServices(persist)
  application.addServices(
    CacheService { try await pages.close() }, CacheLog(disk: pages.disk, logger: logger),
    CacheMetrics(cache: pages, name: "pages", interval: .milliseconds(50)))
  try await application.runService()
  print(isClosed(disk) && isClosed(pages.disk) ? "closed" : "open")
}

func isClosed(_ disk: DiskCache) -> Bool {
  do {
    return try disk.contains("any") && false
  } catch { return error.code == .closed }
}

private func routes(
  _ persist: DiskPersistDriver, _ pages: Cache<String>
) -> Router<BasicRequestContext> {
  let router = Router()
  router.put("/:key") { request, context in
    let (key, value, expires) = try await parts(of: request, context)
    try await persist.set(key: key, value: value, expires: expires)
    return HTTPResponse.Status.ok
  }
  router.post("/:key") { request, context in
    let (key, value, expires) = try await parts(of: request, context)
    do {
      try await persist.create(key: key, value: value, expires: expires)
    } catch let error as PersistError where error == .duplicate {
      return HTTPResponse.Status.conflict
    }
    return .ok
  }
  router.get("/:key") { _, context in
    let key = try context.parameters.require("key")
    guard let found = try await persist.getWithTTL(key: key, as: String.self) else {
      throw HTTPError(.notFound)
    }
    _ = try await pages.value(forKey: key) { found.object }
    let ttl = found.ttl.map { String($0 / .seconds(1)) } ?? "none"
    return "\(ttl) \(found.object)"
  }
  router.delete("/:key") { _, context in
    try await persist.remove(key: context.parameters.require("key"))
    return HTTPResponse.Status.ok
  }
  return router
}

private func parts(
  of request: Request, _ context: BasicRequestContext
) async throws -> (key: String, value: String, expires: Duration?) {
  let body = try await request.body.collect(upTo: 1 << 20)
  let seconds = request.uri.queryParameters["expires"].flatMap { Double($0) }
  return (
    try context.parameters.require("key"), String(buffer: body),
    seconds.map { .seconds($0) }
  )
}
