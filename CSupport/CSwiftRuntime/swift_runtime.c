#include "CSwiftRuntime.h"
#include <string.h>

#define WEAK __attribute__((weak))

// The runtime's own types, as far as they are read here. `struct sections` is what every image
// hands to the runtime at start-up; its layout is stable from version 4 on and grows at the end.
struct sections {
  uintptr_t version;
  const void *base;
  void *unused[2];
  beehive_swift_table protocols;
  beehive_swift_table conformances;
  beehive_swift_table types;
};

enum { oldest_readable_version = 4 };

extern void swift_enumerateAllMetadataSections(
    bool (*body)(const struct sections *, void *), void *context) WEAK;

struct copy {
  beehive_swift_image *out;
  size_t first, capacity, count;
};

static bool copy_image(const struct sections *sections, void *context) {
  struct copy *copy = context;
  size_t index = copy->count++;
  if (index < copy->first || index - copy->first >= copy->capacity) { return true; }
  beehive_swift_image *image = &copy->out[index - copy->first];
  *image = (beehive_swift_image){.base = (uintptr_t)sections->base};
  if (sections->version < oldest_readable_version) { return true; }
  image->protocols = sections->protocols;
  image->conformances = sections->conformances;
  image->types = sections->types;
  return true;
}

ptrdiff_t beehive_swift_images(beehive_swift_image *out, size_t first, size_t capacity) {
  if (!swift_enumerateAllMetadataSections) { return 0; }
  struct copy copy = {.out = out, .first = first, .capacity = capacity};
  swift_enumerateAllMetadataSections(copy_image, &copy);
  return (ptrdiff_t)copy.count;
}

// A nominal type's descriptor: flags, parent, name, then the accessor, each 32 bits; offsets are
// relative to their own field.
struct type_descriptor {
  uint32_t flags;
  int32_t parent, name, accessor;
};

struct response {
  const void *metadata;
  size_t state;
};

typedef __attribute__((swiftcall)) struct response metadata_accessor(size_t request);

const void *beehive_swift_type(const void *descriptor) {
  const struct type_descriptor *type = descriptor;
  if (type->accessor == 0) { return NULL; }
  uintptr_t address = (uintptr_t)&type->accessor + (uintptr_t)(intptr_t)type->accessor;
  // 0 requests complete metadata and waits for it.
  return ((metadata_accessor *)address)(0).metadata;
}

extern const void *swift_getExistentialTypeMetadata(
    uint8_t class_constraint, const void *superclass, size_t count, const void *const *protocols) WEAK;

const void *beehive_swift_existential(const void *descriptor, bool class_bound) {
  if (!swift_getExistentialTypeMetadata) { return NULL; }
  // The runtime counts class-bound as 0, unconstrained as 1.
  return swift_getExistentialTypeMetadata(class_bound ? 0 : 1, NULL, 1, &descriptor);
}

// The demand of a conformance on its caller: the global actor to be on, null for none.
struct execution_context {
  const void *actor;
  const void *actor_witness;
};

// The size of the runtime's own context. A runtime with a larger one must not get ours.
extern const size_t swift_ConformanceExecutionContextSize WEAK;
extern const void *swift_conformsToProtocol(const void *type, const void *protocol) WEAK;
extern const void *swift_conformsToProtocolWithExecutionContext(
    const void *type, const void *protocol, struct execution_context *context) WEAK;

beehive_swift_conformance beehive_swift_conformance_of(
    const void *type, const void *descriptor, const void **actor) {
  *actor = NULL;
  if (swift_conformsToProtocolWithExecutionContext && &swift_ConformanceExecutionContextSize &&
      swift_ConformanceExecutionContextSize == sizeof(struct execution_context)) {
    struct execution_context context = {NULL, NULL};
    if (!swift_conformsToProtocolWithExecutionContext(type, descriptor, &context)) {
      return beehive_swift_conforms_not;
    }
    *actor = context.actor;
    return context.actor ? beehive_swift_conforms_isolated : beehive_swift_conforms;
  }
  // Runtimes before isolated conformances.
  if (!swift_conformsToProtocol) { return beehive_swift_conforms_unavailable; }
  return swift_conformsToProtocol(type, descriptor) ? beehive_swift_conforms
                                                    : beehive_swift_conforms_not;
}

extern void _swift_stdlib_immortalize(void *object) WEAK;

void beehive_swift_immortalize(void *object) {
  if (_swift_stdlib_immortalize) { _swift_stdlib_immortalize(object); }
}

extern char *swift_demangle(
    const char *symbol, size_t length, char *name, size_t *size, uint32_t flags) WEAK;

bool beehive_swift_name(const char *symbol, char *name, size_t size) {
  return swift_demangle && swift_demangle(symbol, strlen(symbol), name, &size, 0);
}
