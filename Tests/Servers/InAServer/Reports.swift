// The first example of the guide InAServer, for Hummingbird.
import Hummingbird
import LarderFoundation

struct Report: ResponseCodable {
  let text: String
}

func addReports(to router: Router<BasicRequestContext>, _ reports: Cache<Report>) {
  router.get("/reports/:id") { _, context in
    let id = try context.parameters.require("id")
    return try await reports.value(forKey: "report/\(id)", expiration: .seconds(60)) {
      try await makeReport(id)  // once, however many clients ask
    }
  }
}

// The route of sessions.
func addVisits(to router: Router<BasicRequestContext>, _ persist: DiskPersistDriver) {
  router.get("/visits/:user") { _, context in
    let key = "visits/\(try context.parameters.require("user"))"
    let count = try await persist.get(key: key, as: Int.self) ?? 0
    try await persist.set(key: key, value: count + 1, expires: .seconds(3600))
    return "\(count + 1)"
  }
}

func makeReport(_ id: String) async throws -> Report {
  try await Task.sleep(for: .milliseconds(200))
  return Report(text: "\(id) at \(ContinuousClock.now)")
}

func serveReports() async throws {
  let reports = try Cache(directory: "/var/cache/app/reports", coder: .json(Report.self))
  let persist = DiskPersistDriver(disk: try DiskCache(directory: "/var/cache/app/sessions"))
  let router = Router()
  addReports(to: router, reports)
  var application = Application(router: router)
  application.addServices(persist, CacheService { try await reports.close() })
  try await application.runService()  // until SIGTERM or SIGINT
}
