import BeeHive
import Testing

protocol AnnotatedService: Sendable { var answer: Int { get } }

struct AnnotatedServiceImpl: AnnotatedService, Injectable {
  init(hive: Hive) {}
  var answer: Int { 42 }
}

struct AnnotatedModule: Module {}

/// GrowingIO's only test of its annotations, with the same two lines of C in Fixtures/CModules.
@Suite("Annotations of the program itself, in C, for types of Swift")
struct AnnotationMethodTests {
  @Test("testAnnotationMethod: the module and the service are registered, bound and made")
  func testAnnotationMethod() throws {
    let own = Hive.process.entries.filter { $0.name.hasPrefix("BeeHiveTests.Annotated") }
    #expect(own.map(\.name) == ["BeeHiveTests.AnnotatedModule", "BeeHiveTests.AnnotatedService"])
    #expect(own.map(\.state) == [.bound, .bound])
    #expect(own.map(\.kind) == [.module, .service])
    #expect(try Hive.process.service((any AnnotatedService).self).answer == 42)
    let found = Hive.process.implementations(of: (any AnnotatedService).self)
    #expect(found.map { $0.type.map { "\($0)" } } == ["AnnotatedServiceImpl"])
  }
}
