internal import BinaryImage
internal import SwiftMetadata

extension Hive {
  /// Finds the types that declare to conform to a protocol, with or without annotations.
  ///
  ///     for codec in hive.conformers(to: (any Codec).self) { print(codec) }
  ///
  /// Reads what the compiler wrote of every image of the process, and makes no instance. Not found are generic
  /// types, which are none without arguments, ones that `Any` cannot hold, conformances on one global actor, and subclasses
  /// that inherit the conformance: nothing is written of them. To find them in a file that is not loaded:
  /// `section-dump conformances`.
  ///
  /// - Parameters:
  ///   - type: A protocol, or a composition of which a type must fulfil every part; neither marker protocols alone nor
  ///     constraints on associated types, such as `any Feed<Int>`, tell conformers.
  ///   - image: The path of the image that is to have the conformances, as the loader knows it; nil for all.
  /// - Returns: Each type once, in the order in which the images were loaded.
  public func conformers<Service>(
    to type: Service.Type, in image: String? = nil
  ) -> [any Any.Type] {
    guard let first = ExistentialLayout(of: type)?.protocols.first else { return [] }
    var known: Set<ObjectIdentifier> = []
    var types: [any Any.Type] = []
    for loaded in SwiftImage.all(from: 0) {
      if let image, RuntimeAddress(rawValue: loaded.base).imagePath != image { continue }
      ProcessTables.forEachConformer(in: loaded.conformances, to: first.address) { address in
        guard let descriptor = ContextDescriptor(at: address), !descriptor.isGeneric,
          descriptor.flags.describesCopyableType, let found = TypeLookup.type(descriptor),
          known.insert(ObjectIdentifier(found)).inserted
        else { return }
        if Conformance.of(found, to: type) == .holds { types.append(found) }
      }
    }
    return types
  }
}
