/// The paths by which the file of a mapped image may be found, likeliest first.
///
/// 1. The loader's name; `/proc/self/exe` for the program, which has none.
/// 2. The path that the kernel knows for the mapping: absolute where the name was relative.
/// 3. The mapping itself under `/proc/self/map_files`: works for deleted files and for memory files,
///    where the process may read it.
///
/// No path is believed: what it leads to is compared with what is mapped.
struct ImagePaths: Sequence, IteratorProtocol {
  private let name: String
  private let isProgram: Bool
  private let address: UInt
  private var step = 0
  private var rest: [String] = []

  /// The paths of an image that has something at `address`.
  init(of mapped: MappedImage, at address: UInt) {
    (name, isProgram) = (mapped.name, mapped.role == .program)
    self.address = address
  }

  mutating func next() -> String? {
    step += 1
    if step == 1 { return isProgram ? "/proc/self/exe" : name }
    // The kernel's list costs more than everything else here, and is seldom needed.
    if step == 2 { rest = Self.kernelPaths(of: address).filter { $0 != name } }
    return rest.isEmpty ? nil : rest.removeFirst()
  }

  /// What errors and identities call an image: the loader's name, or the program's own path. What was
  /// opened by descriptor has the name that the kernel knows, `/memfd:plugin (deleted)`.
  static func displayName(of mapped: MappedImage) -> String {
    let name = mapped.name.utf8Span.span
    if descriptors.contains(where: { name.holds($0.span, at: 0) }),
      let header = mapped.header, let path = kernelPaths(of: header.rawValue).first
    {
      return path
    }
    guard mapped.role == .program, mapped.name.isEmpty else { return mapped.name }
    return programPath ?? "/proc/self/exe"
  }

  /// How the paths begin that lead to descriptors.
  private static let descriptors = [Array("/proc/self/fd/".utf8), Array("/dev/fd/".utf8)]

  static let programPath = linkTarget(of: "/proc/self/exe")

  private static func kernelPaths(of address: UInt) -> [String] {
    MappedRange.ofThisProcess().first { $0.contains(address) }
      .map { [$0.path, "/proc/self/map_files/\($0.mapping)"] } ?? []
  }
}

extension MappedImage {
  /// What errors and identities call it: its path, as the loader or the kernel knows it.
  package var displayName: String { ImagePaths.displayName(of: self) }
}
