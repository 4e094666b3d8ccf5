internal import BinaryImage

/// What a Mach-O file is for, and which build it is of.
extension MachOFile {
  /// Whether the header says that it is a core file.
  package var isCore: Bool { header.type == MachOHeader.FileType.core }

  /// Describes the file as far as it can be read; a damaged part is as good as an absent one here.
  func makeIdentity() -> ImageIdentity {
    ImageIdentity(
      path: file.path, format: .macho, bits: header.bits,
      byteOrder: header.order, machine: header.machine.name, kind: kind,
      id: (try? commands.get().uuid) ?? [])
  }

  private var kind: ImageIdentity.Kind {
    switch header.type {
    case MachOHeader.FileType.object: .object
    case MachOHeader.FileType.core: .core
    case MachOHeader.FileType.dylib, MachOHeader.FileType.dylibStub: .shared
    case MachOHeader.FileType.bundle, MachOHeader.FileType.kext: .bundle
    case MachOHeader.FileType.dsym: .debug
    default: .executable
    }
  }
}
