#define _GNU_SOURCE
#include "CForeignCalls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

// The frame that the callee returns to, and the address in the callee.
struct search {
  uintptr_t caller, callee;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *search_) {
  struct search *search = search_;
  int is_next = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &is_next);
  if (address == search->caller) { return _URC_END_OF_STACK; }
  // After a call that is the last of its function, another function may begin.
  search->callee = address - !is_next;
  return _URC_NO_REASON;
}

static void report(const char *what, uintptr_t callee) {
  Dl_info place = {0};
  dladdr((const void *)callee, &place);
  fprintf(
      stderr, "beehive: %s leaves %s (%s+0x%zx), which has to return\n", what,
      place.dli_sname ? place.dli_sname : "a function", place.dli_fname ? place.dli_fname : "?",
      (size_t)(callee - (uintptr_t)place.dli_fbase));
}

// The personality routine of the frames below. The unwinder calls it before it takes a frame from the stack, so a core
// dump still shows where the exception was thrown.
__attribute__((used, visibility("hidden"))) _Unwind_Reason_Code beehive_unwinds_no_call(
    int version, _Unwind_Action actions, uint64_t class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context) {
  (void)version;
  (void)actions;
  (void)class;
  (void)exception;
  struct search search = {.caller = _Unwind_GetIP(context)};
  _Unwind_Backtrace(note_frame, &search);
  report("an exception", search.callee);
  // Answers the search with "no frame catches it": the C++ runtime calls std::terminate, Rust's aborts.
  return _URC_FATAL_PHASE1_ERROR;
}

static void abort_at_end_of_thread(void *callee) {
  report("the end of the thread", (uintptr_t)callee);
  abort();
}

#ifdef __EXCEPTIONS
#error "without a jump buffer, code without unwind tables is left unnoticed: -fno-exceptions"
#endif

// Makes a call by a statement, in a function that gets this personality, as noexcept does in C++. 0x1b is
// DW_EH_PE_pcrel | sdata4. The end of a thread reaches the handler, whether or not the callee has unwind tables.
#define GUARD(callee, statement)                                               \
  __asm__ volatile(".cfi_personality 0x1b, beehive_unwinds_no_call");         \
  pthread_cleanup_push(abort_at_end_of_thread, (void *)(uintptr_t)(callee)); \
  statement;                                                                  \
  pthread_cleanup_pop(false)
#define CALL(callee, ...)                              \
  ({                                                   \
    __typeof__(callee(__VA_ARGS__)) answer;            \
    GUARD(callee, answer = callee(__VA_ARGS__));       \
    answer;                                            \
  })

__attribute__((noinline)) bool beehive_call_step(
    bool (*step)(const beehive_context *context), const beehive_context *context) {
  return CALL(step, context);
}

__attribute__((noinline)) void beehive_call_last_step(
    void (*step)(const beehive_context *context), const beehive_context *context) {
  if (step) { GUARD(step, step(context)); }
}

__attribute__((noinline)) bool beehive_call_event(
    bool (*handle)(const beehive_context *context, const beehive_event *event),
    const beehive_context *context, const beehive_event *event) {
  return CALL(handle, context, event);
}

__attribute__((noinline)) void *beehive_call_create(
    void *(*create)(const beehive_context *context), const beehive_context *context) {
  return CALL(create, context);
}

__attribute__((noinline)) void beehive_call_destroy(void (*destroy)(void *object), void *object) {
  if (destroy) { GUARD(destroy, destroy(object)); }
}

__attribute__((noinline)) bool beehive_call_perform(
    beehive_perform perform, const beehive_call *call, beehive_reply *reply) {
  return CALL(perform, call, reply);
}

__attribute__((noinline)) bool beehive_call_entry_visit(
    bool (*visit)(const beehive_entry *entry, void *context), const beehive_entry *entry,
    void *context) {
  return CALL(visit, entry, context);
}

__attribute__((noinline)) bool beehive_call_remark_visit(
    bool (*visit)(const char *remark, void *context), const char *remark, void *context) {
  return CALL(visit, remark, context);
}
