internal import BinaryImage

extension Survey {
  /// What a child finds in a file.
  init(of input: Input, by child: IsolatedChild) throws(ImageError) {
    var last: Survey?
    try child.read(input, style: Style(isColored: false)) { piece, bytes in
      last = piece == .sums ? try? Survey(coded: bytes) : nil
    }
    guard var found = last else {
      throw ImageError(
        .killed, image: input.name, message: "The child that read it has said nothing sensible.")
    }
    // A parent reads again what it has asked for, and no other path that a child may name.
    for index in found.images.indices where found.images[index].part?.path != input.path {
      found.images[index].part = nil
    }
    self = found
  }

  /// Reads all files. Where this process is a child, reads for the one that has started it, and throws how that ended.
  static func read(_ inputs: Inputs, readsTypes: Bool = false) throws -> Survey {
    if inputs.child != nil {
      let status = ChildServer.serve { request, _ in
        var survey = Survey()
        survey.read(request.input, inputs.architecture, readsTypes: readsTypes)
        return survey.coded
      }
      if let status { throw status }
    }
    return Survey(inputs, readsTypes: readsTypes)
  }
}
