#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Functions for what the Swift runtime knows and the Swift language cannot ask: which images registered
// with it, the metadata of a descriptor, and whether a type conforms.
//
// All symbols of the runtime are referenced weakly. If a runtime lacks one, its function answers
// "unavailable", or nothing, and linking does not fail.

// Only for this library.
#pragma GCC visibility push(hidden)

/// The address of a table, and its size in bytes.
typedef struct beehive_swift_table {
  uintptr_t start;
  size_t length;
} beehive_swift_table;

/// One image as it registered itself with the Swift runtime.
///
/// `base` is the image's first mapped byte. An image whose sections have a layout older than
/// version 4 is counted, without sections.
typedef struct beehive_swift_image {
  uintptr_t base;
  beehive_swift_table protocols, conformances, types;
} beehive_swift_image;

/// Copies the images from index `first` on, at most `capacity` of them. Returns how many there are.
///
/// Their order is that of registration; images are only ever added. A runtime without such a list has none.
ptrdiff_t beehive_swift_images(beehive_swift_image *out, size_t first, size_t capacity);

/// Returns the metadata of the class, struct or enum that `descriptor` describes; null if it has none.
///
/// `descriptor` is the context descriptor of a nominal type that is not generic.
const void *beehive_swift_type(const void *descriptor);

/// Returns the metadata of `any P` for the protocol descriptor of P; null if the runtime cannot say.
const void *beehive_swift_existential(const void *descriptor, bool class_bound);

/// Whether a type conforms to a protocol.
typedef enum beehive_swift_conformance {
  beehive_swift_conforms_not,
  beehive_swift_conforms,
  /// The conformance holds on one global actor only; `*actor` is the actor's metadata.
  beehive_swift_conforms_isolated,
  beehive_swift_conforms_unavailable,
} beehive_swift_conformance;

/// Asks the runtime for the conformance of the type `type` to the protocol `descriptor`.
beehive_swift_conformance beehive_swift_conformance_of(
    const void *type, const void *descriptor, const void **actor);

/// Tells the runtime that `object` is never to be freed, so that it counts no more references to it.
///
/// Call it once, before any other thread knows the object; it costs a reference for ever. If the
/// runtime cannot do this, nothing changes.
void beehive_swift_immortalize(void *object);

/// Writes the source name of a Swift symbol, at most `size` bytes with the NUL. Returns whether the symbol is
/// one of Swift's.
bool beehive_swift_name(const char *symbol, char *name, size_t size);

#pragma GCC visibility pop
