internal import CElf

/// What a mapped image is.
extension ImageIdentity {
  /// Describes a mapped image as the reader of its format describes the file.
  ///
  /// It is a program where the process was started from it: the loader opens no other, so that
  /// what `ELFFile.isProgram` goes by need not be read of each image.
  init(of mapped: MappedImage, name: String) {
    self.init(
      path: name, format: .elf, bits: UInt.bitWidth, byteOrder: .ofThisProcess,
      machine: ELFMachine.ofThisProcess.name,
      kind: mapped.role == .program ? .executable : .shared, id: mapped.buildID)
  }
}

extension ELFMachine {
  /// The machine that every image of this process is for.
  static let ofThisProcess: ELFMachine = {
    #if arch(x86_64)
      let number = EM_X86_64
    #elseif arch(arm64)
      let number = EM_AARCH64
    #elseif arch(i386)
      let number = EM_386
    #elseif arch(arm)
      let number = EM_ARM
    #elseif arch(s390x)
      let number = EM_S390
    #elseif arch(powerpc64) || arch(powerpc64le)
      let number = EM_PPC64
    #elseif arch(riscv64)
      let number = EM_RISCV
    #else
      #error("Add the machine of this process.")
    #endif
    return ELFMachine(
      number: UInt16(number), bits: UInt.bitWidth, order: ImageIdentity.ByteOrder.ofThisProcess)
  }()
}

extension ImageIdentity.ByteOrder {
  /// The order of this process.
  package static var ofThisProcess: Self {
    #if _endian(little)
      .little
    #else
      .big
    #endif
  }
}
