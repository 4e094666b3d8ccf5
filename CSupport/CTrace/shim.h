// Runs a child under ptrace, and has it call one of its own functions. Swift cannot do this, because ptrace takes
// arguments of any number, and some of this depends on the machine's registers.
//
//   trace_me(), then execve                     in the child
//   trace_adopt(), trace_begin(child)           after its first stop
//   trace_break(child, entry)                   it will stop there
//   trace_go(child, 0, false), waitpid          …
//   trace_call(child, dlopen, entry, path, 2)   it will call, and stop at `entry` again
//   trace_result(child)                         what the function returned
//
// Every function returns false, or ~0, if the system refuses; errno says why.
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#define TRACE_ENTRY 1 /* of a system call */
#define TRACE_EXIT 2

// The action of the child at a stop in a system call.
typedef struct trace_step {
  int when;         // TRACE_ENTRY, TRACE_EXIT, or 0 if the kernel does not say
  bool opens;       // at the entry: it is a call that opens a file
  uint64_t path;    // at the entry of such a call: the address of the path
  int64_t result;   // at the exit
} trace_step;

static inline bool trace_me(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0; }

// Descendants of the child that lose their parent become children of the calling process.
static inline bool trace_adopt(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }

// The child ends with its tracer, and stops in system calls look different from signals.
static inline bool trace_begin(pid_t child) {
  unsigned long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
  return ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) == 0;
}

// Goes on with a signal, or 0. With `calls`, the child stops at the next system call.
static inline bool trace_go(pid_t child, int number, bool calls) {
  return calls ? ptrace(PTRACE_SYSCALL, child, NULL, (void *)(intptr_t)number) == 0
               : ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)number) == 0;
}

// Writes an instruction that raises SIGTRAP.
static inline bool trace_break(pid_t child, uint64_t address) {
#if defined(__x86_64__)
  const uint64_t mask = 0xff, trap = 0xcc;
#else
  const uint64_t mask = 0xffffffff, trap = 0xd4200000;
#endif
  errno = 0;
  uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)(uintptr_t)address, NULL);
  if (errno != 0) return false;
  word = (word & ~mask) | trap;
  return ptrace(PTRACE_POKETEXT, child, (void *)(uintptr_t)address, (void *)(uintptr_t)word) == 0;
}

static inline bool trace_registers(pid_t child, struct user_regs_struct *registers, bool sets) {
  struct iovec part = {registers, sizeof *registers};
  void *set = (void *)(uintptr_t)NT_PRSTATUS;
  return (sets ? ptrace(PTRACE_SETREGSET, child, set, &part)
               : ptrace(PTRACE_GETREGSET, child, set, &part)) == 0;
}

// Has the child call function(text, number) when it goes on, and then run the code at `back`. The text is copied to
// its stack, if it is not null; it has `size` bytes with the NUL.
static inline bool trace_call(pid_t child, uint64_t function, uint64_t back, const char *text,
                              size_t size, uint64_t number) {
  struct user_regs_struct registers;
  if (!trace_registers(child, &registers, false)) return false;
#if defined(__x86_64__)
  uint64_t stack = registers.rsp;
#else
  uint64_t stack = registers.sp;
#endif
  // Leaves out what leaf functions may keep below the stack pointer.
  stack = (stack - 256 - size) & ~(uint64_t)15;
  for (size_t start = 0; text && start < size; start += sizeof(uint64_t)) {
    uint64_t word = 0;
    for (size_t byte = 0; byte < sizeof word && start + byte < size; byte++)
      word |= (uint64_t)(unsigned char)text[start + byte] << 8 * byte;
    if (ptrace(PTRACE_POKEDATA, child, (void *)(uintptr_t)(stack + start),
               (void *)(uintptr_t)word) != 0)
      return false;
  }
#if defined(__x86_64__)
  registers.rdi = text ? stack : 0;
  registers.rsi = number;
  registers.rax = 0;
  registers.orig_rax = ~(uint64_t)0;
  registers.rip = function;
  registers.rsp = stack - 8;
  if (ptrace(PTRACE_POKEDATA, child, (void *)(uintptr_t)registers.rsp, (void *)(uintptr_t)back) != 0)
    return false;
#else
  registers.regs[0] = text ? stack : 0;
  registers.regs[1] = number;
  registers.regs[30] = back;
  registers.pc = function;
  registers.sp = stack;
#endif
  return trace_registers(child, &registers, true);
}

static inline uint64_t trace_result(pid_t child) {
  struct user_regs_struct registers;
  if (!trace_registers(child, &registers, false)) return ~(uint64_t)0;
#if defined(__x86_64__)
  return registers.rax;
#else
  return registers.regs[0];
#endif
}

// The next instruction, and the stack.
static inline bool trace_place(pid_t child, uint64_t *instruction, uint64_t *stack) {
  struct user_regs_struct registers;
  if (!trace_registers(child, &registers, false)) return false;
#if defined(__x86_64__)
  *instruction = registers.rip;
  *stack = registers.rsp;
#else
  *instruction = registers.pc;
  *stack = registers.sp;
#endif
  return true;
}

// Returns the action of a child that stopped in a system call.
static inline trace_step trace_system_call(pid_t child) {
  trace_step step = {0, false, 0, 0};
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info) <= 0) return step;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    step.when = TRACE_ENTRY;
#if defined(__x86_64__)
    step.opens = info.entry.nr == 2 || info.entry.nr == 257; // open, openat
    step.path = info.entry.args[info.entry.nr == 2 ? 0 : 1];
#else
    step.opens = info.entry.nr == 56;
    step.path = info.entry.args[1];
#endif
  } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
    step.when = TRACE_EXIT;
    step.result = info.exit.rval;
  }
  return step;
}
