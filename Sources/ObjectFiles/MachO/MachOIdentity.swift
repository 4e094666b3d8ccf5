internal import BinaryImage

/// What a Mach-O file is for, and which build it is of.
extension MachOFile {
  /// Whether the header says that it is a core file.
  package var isCore: Bool { header.type == .core }

  /// Describes the file as far as it can be read; a damaged part is as good as an absent one here.
  func makeIdentity() -> ImageIdentity {
    ImageIdentity(
      path: file.path, format: .macho, bits: header.bits,
      byteOrder: header.order, machine: header.machine.name, kind: kind,
      id: (try? commands.get().uuid) ?? [])
  }

  private var kind: ImageIdentity.Kind {
    switch header.type {
    case .object: .object
    case .core: .core
    case .dylib, .dylibStub: .shared
    case .bundle, .kext: .bundle
    case .dsym: .debug
    case .execute, .preload, .dylinker: .executable
    }
  }
}
