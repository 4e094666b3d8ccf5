import BinaryImage
import Foundation
import Testing

/// What is read of a mapped image is what its file says, whichever way its sections were found.
@Suite struct LoadedImageTests {
  struct Build: CustomTestStringConvertible, Sendable {
    let compiler: String
    let linker: String
    var testDescription: String { "\(compiler) \(linker)" }
    var arguments: [String] { linker.isEmpty ? [] : ["-fuse-ld=\(linker)"] }
    var isPossible: Bool {
      let program = linker == "mold" ? "mold" : "ld.\(linker)"
      return Fixture.tool(compiler) != nil && Fixture.tool(program) != nil
    }

    static let all = ["gcc", "clang"].flatMap { compiler in
      ["bfd", "gold", "lld", "mold"].map { Build(compiler: compiler, linker: $0) }
    }
  }

  @Test(arguments: Build.all) func noteAndFileAgree(_ build: Build) throws {
    guard build.isPossible else {
      print("skipped: \(build.testDescription) is not installed")
      return
    }
    let name = "agree_\(build.compiler)_\(build.linker)"
    for (source, evidence) in [
      (Fixture.noted(name), LoadedImage.Evidence.note),
      (Fixture.handWritten(name), LoadedImage.Evidence.file),
    ] {
      let path = try Fixture.library(
        source, as: "\(name)-\(evidence).so", with: build.compiler, build.arguments)
      let library = try OpenLibrary(path)
      defer { library.close() }
      let image = try ImageList.current().copy(named: path)
      let file = try ELFFile(path: path)
      #expect(image.evidence == evidence)
      #expect(image.identity == file.identity)
      #expect(image.isSettled)
      #expect(!image.carriesSwift)
      for section in LoadedImage.sectionNames {
        let stored = try file.sections(named: section).filter { $0.size > 0 }
        let mapped = try image.sections(named: section)
        #expect(mapped.map(\.address) == stored.map(\.address))
        #expect(mapped.map(\.size) == stored.map(\.size))
        #expect(try image.texts(in: section) == file.texts(in: section))
      }
      #expect(
        try image.texts(in: "BeehiveMods") == ["\(name).FirstModule", "\(name).SecondModule"])
    }
  }
}
