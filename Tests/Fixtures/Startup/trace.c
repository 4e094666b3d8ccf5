/* Prints what the loader really calls of a library while dlopen opens it: a line for each function, its address
 * in the file. The library's code is made unreadable for the processor once it is mapped, so each call of it stops
 * the process; nothing has to be known beforehand.
 *
 *   trace LIBRARY
 *
 * Status 3: the loader does not open it. Of x86-64 alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long word;
struct range { word start, end; };
static struct range loader, code;
static word base, gate;
static pid_t child;

/* Reads where the code of the loader and of the library is mapped. */
static void look(const char *path) {
  char name[64], line[4400], file[4096], flags[8];
  word start, end, offset;
  snprintf(name, sizeof name, "/proc/%d/maps", child);
  FILE *maps = fopen(name, "r");
  base = 0;
  while (maps && fgets(line, sizeof line, maps)) {
    file[0] = 0;
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &start, &end, flags, &offset, file) < 4) continue;
    int runs = flags[2] == 'x';
    if (strstr(file, "/ld-linux") && runs) loader = (struct range){start, end};
    if (strcmp(file, path)) continue;
    if (!base) base = start;
    if (runs) code = (struct range){start, end};
  }
  if (maps) fclose(maps);
}

static int within(struct range range, word place) { return place >= range.start && place < range.end; }

static struct user_regs_struct registers(void) {
  struct user_regs_struct found = {0};
  ptrace(PTRACE_GETREGS, child, 0, &found);
  return found;
}

/* Has the child protect the library's code, by the instruction with which the loader calls the system. */
static void protect(int protection) {
  struct user_regs_struct old = registers(), call = old;
  int status;
  call.rip = gate;
  call.rax = SYS_mprotect;
  call.rdi = code.start;
  call.rsi = code.end - code.start;
  call.rdx = (word)protection;
  call.orig_rax = (word)-1;
  ptrace(PTRACE_SETREGS, child, 0, &call);
  ptrace(PTRACE_SINGLESTEP, child, 0, 0);
  waitpid(child, &status, 0);
  if (registers().rax != 0) exit(71);
  ptrace(PTRACE_SETREGS, child, 0, &old);
}

/* Lets a function of the library run until it returns; 0 where it does not. */
static int run(word back) {
  int status;
  word kept = (word)ptrace(PTRACE_PEEKTEXT, child, back, 0);
  protect(PROT_READ | PROT_EXEC);
  ptrace(PTRACE_POKETEXT, child, back, (kept & ~0xffUL) | 0xcc);
  for (int pass = 0;;) {
    ptrace(PTRACE_CONT, child, 0, pass);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 0;
    pass = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    if (!pass && registers().rip == back + 1) break;
  }
  ptrace(PTRACE_POKETEXT, child, back, kept);
  struct user_regs_struct now = registers();
  now.rip = back;
  ptrace(PTRACE_SETREGS, child, 0, &now);
  protect(PROT_READ);
  return 1;
}

int main(int count, char **paths) {
  char path[4096];
  if (count != 2 || !realpath(paths[1], path)) return 64;
  child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    if (!dlopen(path, RTLD_NOW)) _exit(3);
    raise(SIGSTOP);
    _exit(0);
  }
  int status, stops = 0, pass = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (stops == 0) {
    ptrace(code.start ? PTRACE_CONT : PTRACE_SYSCALL, child, 0, pass);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) break;
    pass = 0;
    struct user_regs_struct now = registers();
    switch (WSTOPSIG(status)) {
      case SIGTRAP | 0x80:
        /* The loader closes the file when all of it is mapped. */
        if (now.orig_rax == SYS_close && (long)now.rax != -ENOSYS) look(path);
        if (code.start) {
          gate = now.rip - 2;
          protect(PROT_READ);
        }
        break;
      case SIGSTOP: stops++; break;
      case SIGSEGV:
        if (within(code, now.rip)) {
          word back = (word)ptrace(PTRACE_PEEKDATA, child, now.rsp, 0);
          if (within(loader, back)) printf("%#lx\n", (word)now.rip - base);
          if (!run(back)) return 72;
          break;
        }
        /* fall through */
      default: pass = WSTOPSIG(status);
    }
  }
  kill(child, SIGKILL);
  return stops ? 0 : WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 3 : 70;
}
