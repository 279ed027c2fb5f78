// The adapter of the guide InAServer for SwiftNIO.
import Larder
import NIOCore

func send(
  _ key: String, of files: Cache<[UInt8]>, through channel: any Channel
) async throws -> Bool {
  let isSent = try await files.withFile(forKey: key) { file in
    let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor)
    // The cache closes the descriptor when this closure has ended.
    defer { _ = try? handle.takeDescriptorOwnership() }
    let region = FileRegion(fileHandle: handle, readerIndex: 0, endIndex: file.byteCount)
    try await channel.writeAndFlush(region).get()
    return true
  }
  return isSent ?? false
}
