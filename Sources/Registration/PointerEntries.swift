internal import BinaryImage

/// The classic sections: one `const char *` per slot.
enum PointerEntries {
  /// Longer texts are taken for a pointer that leads astray.
  static let textLimit = 16 << 10

  /// What the text of one slot says.
  enum Content {
    case record(kind: RecordKind, name: String, implementation: String?)
    case refused(Rejection.Reason, String)
  }

  /// A slot of `BeehiveMods`: the name itself.
  static func module(_ bytes: Span<UInt8>) -> Content {
    switch EntryText(copying: bytes) {
    case .text(let name) where name.isEmpty:
      .refused(.emptyName, "points at an empty name; give the module one")
    case .text(let name):
      .record(kind: .module, name: name, implementation: nil)
    case .invalid(let offset):
      .refused(.invalidUTF8, EntryText.invalidMessage("the name", at: offset))
    }
  }

  /// A slot of `BeehiveServices`: `{ "Service" : "Implementation" }`.
  static func service(_ bytes: Span<UInt8>) -> Content {
    switch JSONStringPair(parsing: bytes) {
    case .pair(let name, _) where name.isEmpty:
      .refused(.emptyName, "names no service; write { \"Service\" : \"Implementation\" }")
    case .pair(let name, let implementation) where implementation.isEmpty:
      .refused(.emptyName, "names no implementation of \(name); write one behind the colon")
    case .pair(let name, let implementation):
      .record(kind: .service, name: name, implementation: implementation)
    case .several:
      .refused(.severalJSONKeys, "names several services; write one entry for each")
    case .invalidUTF8(let offset):
      .refused(.invalidUTF8, EntryText.invalidMessage("the text", at: offset))
    case .malformed(let offset, let expected):
      .refused(
        .malformedJSON,
        "expected \(expected) at byte \(offset); write { \"Service\" : \"Implementation\" }")
    }
  }

  /// Reads every whole slot of `section`.
  static func read(
    _ section: Section, of image: some Image, into collector: inout ScanCollector,
    decode: (Span<UInt8>) -> Content
  ) {
    // The bytes that are really there bound the loop, not the size that the table claims.
    let size: UInt64
    do throws(ImageError) {
      size = UInt64(try image.withBytes(of: section) { $0.count })
    } catch {
      collector.begin(section, entryCount: 0)
      collector.reject(.unreadableSection, at: 0, error.message)
      return
    }
    let slotSize = UInt64(image.pointerSize)
    let end = size - size % slotSize
    collector.begin(section, entryCount: Int(end / slotSize))
    var offset: UInt64 = 0
    while offset < end {
      guard collector.hasRoom(at: offset) else { return }
      readSlot(at: offset, in: section, of: image, into: &collector, decode: decode)
      collector.index += 1
      offset += slotSize
    }
    rejectRest(size - offset, at: offset, slotSize: slotSize, into: &collector)
  }

  /// Refuses what is left of a section behind its last whole slot.
  static func rejectRest(
    _ size: UInt64, at offset: UInt64, slotSize: UInt64, into collector: inout ScanCollector
  ) {
    guard size > 0 else { return }
    collector.reject(
      .oddSectionSize, at: offset,
      "\(size) bytes are left behind the last whole pointer of \(slotSize); "
        + "an entry in this section is no const char *")
    collector.index += 1
  }

  /// Reads the slot at `offset`, whose number the collector holds.
  static func readSlot(
    at offset: UInt64, in section: Section, of image: some Image,
    into collector: inout ScanCollector, decode: (Span<UInt8>) -> Content
  ) {
    let pointer: PointerValue
    let content: Content
    do throws(ImageError) {
      pointer = try image.pointer(at: offset, in: section)
    } catch {
      collector.reject(.unresolvedPointer, at: offset, error.message)
      return
    }
    switch pointer.target {
    case .address, .section:
      do throws(ImageError) {
        content = try image.withText(at: pointer.target, limit: textLimit, decode)
      } catch {
        let (reason, message) = refusal(of: error, pointer)
        collector.reject(reason, at: offset, message)
        return
      }
    case .null where offset % 8 != 0:
      // Every entry is aligned to 8; behind a pointer of four bytes, four of nothing follow.
      return
    case .null:
      collector.reject(
        .nullPointer, at: offset, "holds a null pointer; remove the entry or point it at a text")
      return
    case .foreign(let address):
      collector.reject(
        .pointerOutsideImage, at: offset,
        "points outside the image (\(hex(UInt64(address.rawValue)))); "
          + "point it at a text of the same image")
      return
    case .imported(let symbol):
      collector.reject(
        .unresolvedPointer, at: offset,
        "points at \(symbol) of another image; point it at a text of the same image")
      return
    case .unresolvable(let why):
      collector.reject(.unresolvedPointer, at: offset, why)
      return
    }
    switch content {
    case .record(let kind, let name, let implementation):
      var textAddress: VirtualAddress?
      if case .address(let address) = pointer.target { textAddress = address }
      collector.accept(
        Record(
          kind: kind, name: name, implementation: implementation, encoding: .pointer,
          resolution: pointer.resolution, textAddress: textAddress,
          origin: collector.origin(at: offset)))
    case .refused(let reason, let message):
      collector.reject(reason, at: offset, message)
    }
  }

  /// Why the text that `pointer` leads to cannot be read.
  private static func refusal(
    of error: ImageError, _ pointer: PointerValue
  ) -> (Rejection.Reason, String) {
    let place =
      switch pointer.target {
      case .address(let address): hex(address.rawValue)
      case .section(let index, let offset): "section \(index) + \(hex(offset))"
      default: hex(pointer.rawValue)
      }
    return switch error.code {
    case .outOfImage:
      (
        .pointerOutsideImage,
        "points outside the image (\(place)); point it at a text of the same image"
      )
    case .unterminated:
      (
        .unterminatedText,
        "points at \(place), where no NUL ends the text within \(textLimit) bytes of the image"
      )
    default:
      (.unresolvedPointer, "points at \(place), which cannot be read: \(error.message)")
    }
  }

  private static func hex(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }
}
