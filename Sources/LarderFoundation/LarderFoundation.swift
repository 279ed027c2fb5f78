/// Larder for programs that use Foundation: `Data`, `Date`, `URL` and `Codable`, over
/// FoundationEssentials alone.
@_exported public import Larder
