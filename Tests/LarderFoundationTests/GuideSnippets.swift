import LarderFoundation

// The code of pages that needs LarderFoundation. `ArticleTests` compares them line by line.

struct User: Codable, Sendable {
  var name: String
}

func storeUser(_ user: User) async throws {
  let configuration = CacheConfiguration(sizeLimit: 10 << 30)  // bytes of values; 1 GiB by default
  let users = try Cache(named: "users", coder: .json(User.self), configuration: configuration)
  try await users.store(user, forKey: "user/7", expiration: .days(30))
}
