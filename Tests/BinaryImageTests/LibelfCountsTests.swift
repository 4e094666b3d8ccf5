import TestSupport
import Testing

/// The counter of libelf's calls, which other tests rely on: it counts, and it breaks.
@Suite struct LibelfCountsTests {
  @Test func `Calls are counted, of a program and of its children`() throws {
    let counter = try LibelfCounter()
    let program = try Fixture.compile(
      """
      #include <libelf.h>
      #include <stdio.h>
      #include <sys/wait.h>
      #include <unistd.h>
      int main(void) {
        static char byte;
        elf_version(EV_CURRENT);
        Elf *elf = elf_memory(&byte, 1);
        printf("%s\\n", elf != NULL ? "opened" : "refused");
        fflush(stdout);
        elf_end(elf);
        pid_t child = fork();
        if (child == 0) _exit(elf_memory(&byte, 1) == NULL);
        waitpid(child, NULL, 0);
        return 0;
      }
      """, as: "counted", ["-lelf"])
    for isBroken in [false, true] {
      let (outcome, counts) = try counter.run(program, isBroken: isBroken)
      #expect(outcome.status == 0)
      #expect(outcome.lines == [isBroken ? "refused" : "opened"])
      #expect(counts["elf_memory"] == 2)
      #expect(counts["gelf_getnote"] == 0)
    }
  }
}
