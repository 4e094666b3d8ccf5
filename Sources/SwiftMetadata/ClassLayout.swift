package import BinaryImage

/// The sizes of a class that are compiled into its subclasses.
package struct ClassLayout: Hashable, Codable, Sendable {
  /// The words of its metadata that subclasses repeat: a head, one for each method, and one for each stored property.
  package var words: UInt32
  /// The least and the most bytes that an instance may have; nil if the image does not tell.
  package var bytes: ClosedRange<UInt32>?
}

/// The layout of classes.
///
/// After the name in the descriptor of a class are: accessor, fields, superclass, words of metadata before its address and
/// from there on, words that are the class's own, number of fields, place of their offsets.
///
/// Swift: `TargetClassDescriptor`, `TargetClassMetadata`.
extension MetadataReader {
  /// Returns the layout of the class with a descriptor, and with metadata if its address is known; nil if the runtime
  /// lays the class out, and for other types.
  package func layout(
    ofClass descriptor: UInt64, metadata: UInt64?
  ) throws(Memory.Failure) -> ClassLayout? {
    guard try flags(of: descriptor).isLaidOutClass else { return nil }
    var layout = ClassLayout(words: try memory.word(at: descriptor &+ 28))
    if let metadata {
      // 0 in a file if the size of a property is not known before loading.
      let size = try memory.word(at: metadata &+ 2 &* UInt64(memory.pointerSize) &+ 8)
      if size > 0 { layout.bytes = size...size }
    }
    return layout
  }
}

extension MetadataReader<FileMemory> {
  /// Returns the superclass of a class, and the layout that the class was compiled to find in it. Nil without a
  /// superclass, or if the runtime lays the class out.
  ///
  /// Own properties begin after those of the superclass, at the next multiple of at most 16.
  package func superclass(
    of descriptor: UInt64, metadata: UInt64? = nil
  ) throws(ImageError) -> (reference: MetadataReference<String>, layout: ClassLayout)? {
    guard var layout = try layout(ofClass: descriptor, metadata: metadata),
      let superclass = try superclass(named: descriptor).flatMap(\.self)
    else { return nil }
    layout.words &-= try memory.word(at: descriptor &+ 32)
    guard let metadata, layout.bytes != nil else { return (superclass, layout) }
    let place = UInt64(try memory.word(at: descriptor &+ 40))
    for field in 0..<UInt64(try memory.word(at: descriptor &+ 36)) {
      let word = memory.wrapped(metadata &+ (place &+ field) &* UInt64(memory.pointerSize))
      // Properties without bytes are at 0.
      let offset = UInt32(clamping: try memory.number(at: word, size: memory.pointerSize))
      guard offset > 0 else { continue }
      layout.bytes = offset - min(offset, 15)...offset
      break
    }
    return (superclass, layout)
  }

  /// Returns the superclass that the descriptor of a class names: nil without a superclass, and a nil reference if the
  /// name does not tell which.
  package func superclass(
    named descriptor: UInt64
  ) throws(ImageError) -> MetadataReference<String>?? {
    guard let mangled = try memory.target(at: descriptor &+ 20) else { return nil }
    return .some(try referred(byMangled: mangled, orGeneric: true))
  }

  /// Returns the descriptor of the class whose metadata is at an address; nil if none can be there.
  package func descriptor(ofClassMetadata metadata: UInt64) throws(ImageError) -> UInt64? {
    try memory.pointer(at: metadata &+ 2 &* UInt64(memory.pointerSize) &+ 24)?.address
  }
}
