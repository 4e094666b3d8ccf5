internal import ArgumentParser
internal import BinaryImage

extension Survey {
  /// What a child finds in a file.
  init(of input: Input, by child: IsolatedChild) throws(ImageError) {
    var found: Survey?
    try child.read(input, style: Style(isColored: false)) { piece, bytes in
      var (coder, survey) = (FieldCoder(reading: bytes), Survey())
      let isWhole = (try? survey.code(with: &coder, input)) != nil && coder.isAtEnd
      found = piece == .sums && isWhole ? survey : nil
    }
    guard let found else {
      throw ImageError(
        .killed, image: input.name, message: "The child that read it has said nothing sensible.")
    }
    self = found
  }

  /// Reads one file for the process that has started this one.
  static func answer(
    _ request: Request, _ inputs: Inputs, readsTypes: Bool = false
  ) -> ExitCode {
    var (survey, coder) = (Survey(), FieldCoder())
    survey.read(request.input, inputs.architecture, readsTypes: readsTypes)
    do throws(FieldCoder.Broken) {
      try survey.code(with: &coder, request.input)
    } catch {
      return ExitCode(2)
    }
    let sink = ByteSink(descriptor: 1)
    sink.write(PackedPieces.head(.sums, size: coder.bytes.count)[...])
    sink.write(coder.bytes[...])
    sink.flush()
    return sink.failure == 0 ? .success : ExitCode(2)
  }

  private mutating func code(
    with coder: inout FieldCoder, _ input: Input
  ) throws(FieldCoder.Broken) {
    try coder.code(&images)
    for index in images.indices {
      // A parent reads again what it has asked for, and no other path that a child may name.
      if images[index].part?.path != input.path { images[index].part = nil }
    }
    try coder.code(&findings)
    try coder.code(&problems)
    try coder.code(&read)
    try coder.code(&skipped)
  }
}

extension SurveyedImage: Coded {
  static var blank: Self {
    Self(place: .blank, platform: .blank, kind: .shared, id: [])
  }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&place)
    try coder.code(&platform)
    try coder.code(&kind)
    try coder.code(&id)
    let blank = FilePart(path: [], offset: 0, size: 0)
    try coder.code(&part, blank) { coder, part throws(FieldCoder.Broken) in
      try coder.code(&part.path)
      try coder.code(&part.offset)
      try coder.code(&part.size)
    }
    try coder.code(&isRead)
    try coder.code(&records)
    try types.code(with: &coder)
    try protocols.code(with: &coder)
  }
}

extension Survey.Trouble: Coded {
  static var blank: Self { Self(problem: .blank, place: .blank) }

  mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&problem)
    try coder.code(&place)
  }
}
