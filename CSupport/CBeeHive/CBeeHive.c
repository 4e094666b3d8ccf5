// The headers are the product. This file checks their layout against RecordLayout.md.
#include "BeeHive.h"

_Static_assert(sizeof(beehive_record_head) == BEEHIVE_RECORD_HEAD_SIZE, "the head is 32 bytes");
_Static_assert(offsetof(beehive_record_head, version) == 4, "version");
_Static_assert(offsetof(beehive_record_head, kind) == 6, "kind");
_Static_assert(offsetof(beehive_record_head, flags) == 8, "flags");
_Static_assert(offsetof(beehive_record_head, text_offset) == 12, "text offset");
_Static_assert(offsetof(beehive_record_head, accessor) == 16, "accessor");
_Static_assert(offsetof(beehive_record_head, context) == 24, "context");

_Static_assert(sizeof(beehive_note_descriptor) == 36, "the assembler text says 36");
_Static_assert(offsetof(beehive_note_descriptor, image_header) == 8, "image header");
_Static_assert(offsetof(beehive_note_descriptor, records_stop) == 32, "end of the records");
_Static_assert(sizeof(BEEHIVE_NOTE_OWNER) == 8, "the assembler text says 8");

_Static_assert(offsetof(beehive_image, next) == 8, "next");
_Static_assert(offsetof(beehive_image, header) == 8 + 2 * sizeof(void *), "header");
_Static_assert(offsetof(beehive_image, records_end) == 8 + 8 * sizeof(void *), "records end");
_Static_assert(offsetof(beehive_image, flags) == 8 + 9 * sizeof(void *), "flags");
_Static_assert(sizeof(beehive_image) == 16 + 9 * sizeof(void *), "no padding in the node");

_Static_assert(sizeof(beehive_module_operations) == 6 * sizeof(void *), "six operations");
_Static_assert(offsetof(beehive_module_operations, initialize) == sizeof(void *), "second");
_Static_assert(offsetof(beehive_module_operations, splash) == 2 * sizeof(void *), "third");
_Static_assert(offsetof(beehive_module_operations, event) == 3 * sizeof(void *), "fourth");
_Static_assert(offsetof(beehive_module_operations, tear_down) == 4 * sizeof(void *), "fifth");
_Static_assert(offsetof(beehive_module_operations, unmount) == 5 * sizeof(void *), "last");

_Static_assert(offsetof(beehive_context, hive) == 8, "after size and version");
_Static_assert(offsetof(beehive_context, environment) == 8 + sizeof(void *), "environment");
_Static_assert(offsetof(beehive_context, arguments) == 8 + 2 * sizeof(void *), "arguments");
_Static_assert(offsetof(beehive_context, argument_count) == 8 + 3 * sizeof(void *), "count");
_Static_assert(offsetof(beehive_context, custom) == 8 + 4 * sizeof(void *), "custom");
_Static_assert(offsetof(beehive_context, service) == 8 + 5 * sizeof(void *), "service");
_Static_assert(offsetof(beehive_context, destroy) == 8 + 6 * sizeof(void *), "destroy");
_Static_assert(offsetof(beehive_event, number) == 8, "after size and version");
_Static_assert(offsetof(beehive_event, name) == 16, "name");
_Static_assert(offsetof(beehive_event, payload) == 16 + sizeof(void *), "payload");
_Static_assert(offsetof(beehive_event, payload_size) == 16 + 2 * sizeof(void *), "payload size");

_Static_assert(offsetof(beehive_module_table, operations_size) == 8, "after size and version");
_Static_assert(offsetof(beehive_module_table, operations) == 8 + sizeof(size_t), "operations");
_Static_assert(offsetof(beehive_service_table, table_size) == 8, "after size and version");
_Static_assert(offsetof(beehive_service_table, table) == 8 + sizeof(size_t), "table");
_Static_assert(offsetof(beehive_service_factory, create) == 8, "after size and version");
_Static_assert(offsetof(beehive_service_factory, destroy) == 8 + sizeof(void *), "destroy");
_Static_assert(offsetof(beehive_target_table, action_size) == 8, "after size and version");
_Static_assert(offsetof(beehive_route_table, perform) == 8, "after size and version");

_Static_assert(sizeof(BEEHIVE_SECTION_MODS) <= 17, "Mach-O takes 16 bytes");
_Static_assert(sizeof(BEEHIVE_SECTION_SERVICES) <= 17, "Mach-O takes 16 bytes");
_Static_assert(sizeof(BEEHIVE_SECTION_RECORDS) <= 17, "Mach-O takes 16 bytes");
