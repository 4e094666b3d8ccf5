internal import CElf
internal import CImageList

/// One image in the loader's list, as a scan describes it; its sections are not read yet.
///
/// Its sources are `dl_phdr_info`, and the headers and notes as libelf reads them; on Darwin, dyld.
package struct MappedImage: Identifiable, Hashable, Sendable {
  /// A number that no other image of the same list ever has.
  package let id: Int
  /// The loader's name for it: empty for the main program, and relative if `dlopen` got a relative path.
  package let name: String
  /// The role of the image in the process.
  package let role: Role
  /// The load bias: the difference to every linked address.
  package let bias: LoadBias
  /// The address of the ELF or Mach-O header; nil if no segment holds it.
  package let header: RuntimeAddress?
  /// Whether the image's own note leads to the sections.
  package let note: Note
  /// The build-id or `LC_UUID`; empty if there is none.
  package let buildID: [UInt8]
  /// Whether a runtime is in the image: libBeeHive.so, or a copy that somebody linked into it.
  package let carriesRuntime: Bool

  /// The roles of images in a process; the numbers are those of the C side, `image_role`.
  package enum Role: UInt8, Sendable {
    /// A shared library, loaded at the start or by `dlopen`.
    case library
    /// The program itself.
    case program
    /// The kernel's `linux-vdso`: it has no file and declares nothing.
    case vdso
  }

  /// The note of `CSupport/RecordLayout.md`, as libelf read it; the numbers are those of the C side,
  /// `image_note`. If it is not valid, the sections are found through the file.
  package enum Note: UInt8, Sendable {
    /// There is none.
    case none
    /// Its bounds lie inside the image.
    case valid
    /// It is cut off.
    case short
    /// It has a version that this reader does not know.
    case unknownVersion
    /// Two notes say different things.
    case contradiction
    /// A tool has moved the note or the header.
    case moved
    /// It names a range outside the image.
    case outOfImage
    /// It names a range that is not aligned to 8.
    case misaligned
    /// libelf did not read the headers and notes that were copied.
    case unread
  }
}

extension RuntimeAddress {
  /// The path of the image that holds the address, as the loader calls it, or the program's own path. Nil if no image
  /// holds the address.
  ///
  /// Takes the loader's lock: call it with no lock held. The image stays loaded meanwhile.
  package var imagePath: String? {
    var place = image_place()
    let address = unsafe UnsafeRawPointer(bitPattern: rawValue)
    guard let name = unsafe image_place_find(address, &place) else { return nil }
    let text = unsafe String(cString: name)
    return text.isEmpty ? ImagePaths.programPath : text
  }
}

/// The identity of a mapped image.
extension ImageIdentity {
  /// Describes a mapped image as the reader of its format describes the file.
  ///
  /// An image is a program if the process was started from it, because the loader opens no other program. So the facts
  /// that `ELFFile.isProgram` needs are not read from each image.
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
