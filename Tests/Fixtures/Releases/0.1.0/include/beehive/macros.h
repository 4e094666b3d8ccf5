/* What an author writes. All of these belong at file or namespace scope, take their names unexpanded
 * (`linux.Shop` stays that) and are followed by a semicolon.
 *
 *   BeeHiveMod(Shop.ShopModule);
 *   BeeHiveService(Shop.HomeService, Shop.HomeViewModel);
 *   BEEHIVE_MODULE(audio, &audio_operations, BEEHIVE_PRIORITY(10) BEEHIVE_REQUIRES("log"));
 *   BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english, BEEHIVE_SCOPE("singleton"));
 *   BEEHIVE_SERVICE_FACTORY(Session, DiskSession, create_session, destroy_session);
 *   BEEHIVE_TARGET(shop, shop_actions, BEEHIVE_ACTION("remote stock(sku: String) -> Int"));
 *   BEEHIVE_ROUTE("app://stock/:sku", stock, BEEHIVE_REMOTE BEEHIVE_RETURNS("Int"));
 *   BEEHIVE_PLUGIN("com.example.greet", "1.4.2", BEEHIVE_NAME("Greetings") BEEHIVE_NAME_IN("de", "Gruesse"));
 *
 * Inside a function they do not compile: an entry there would not be a constant of the file. */
#ifndef BEEHIVE_MACROS_H
#define BEEHIVE_MACROS_H

#include "anchor.h"
#include "module.h"
#include "record.h"
#include "routing.h"
#include "service.h"

/* ---- Pointer entries: names of Swift types, bound when the type is there ---- */

/* Variadic, because a name may hold commas: BeeHiveMod(Cache<Key, Value>). */
#define BeeHiveMod(...) BEEHIVE_POINTER_(BEEHIVE_SECTION_MODS, #__VA_ARGS__, #__VA_ARGS__)

/* The service may hold no comma, the implementation may. */
#define BeeHiveService(service, ...)                                                      \
  BEEHIVE_STATIC_ASSERT(sizeof(#service) > 1, "BeeHiveService: the service has no name"); \
  BEEHIVE_NO_QUOTES_(#service);                                                           \
  BEEHIVE_POINTER_(BEEHIVE_SECTION_SERVICES, #__VA_ARGS__,                                \
                   "{ \"" #service "\" : \"" #__VA_ARGS__ "\" }")

/* ---- Typed entries: tables of C functions ---- */

/* BEEHIVE_MODULE(name, operations[, attributes]): `operations` is a constant pointer to a
 * beehive_module_operations. */
#define BEEHIVE_MODULE(name, ...)                                                     \
  BEEHIVE_STATIC_ASSERT(sizeof(#name) > 1, "BEEHIVE_MODULE: the module has no name"); \
  BEEHIVE_MODULE_(BEEHIVE_UNIQUE(beehive_entry_), #name "\0", __VA_ARGS__, "", "", )

/* BEEHIVE_SERVICE(service, implementation, table[, attributes]): `table` is a constant pointer to
 * the structure that the service consists of. */
#define BEEHIVE_SERVICE(service, implementation, ...)                                      \
  BEEHIVE_STATIC_ASSERT(sizeof(#service) > 1, "BEEHIVE_SERVICE: the service has no name"); \
  BEEHIVE_NO_QUOTES_(#implementation);                                                     \
  BEEHIVE_SERVICE_(BEEHIVE_UNIQUE(beehive_entry_), #service "\0" #implementation "\0",     \
                   __VA_ARGS__, "", "", )

/* BEEHIVE_SERVICE_FACTORY(service, implementation, create, destroy[, attributes]). */
#define BEEHIVE_SERVICE_FACTORY(service, implementation, create, ...)                          \
  BEEHIVE_STATIC_ASSERT(sizeof(#service) > 1,                                                  \
                        "BEEHIVE_SERVICE_FACTORY: the service has no name");                   \
  BEEHIVE_NO_QUOTES_(#implementation);                                                         \
  BEEHIVE_FACTORY_(BEEHIVE_UNIQUE(beehive_entry_), #service "\0" #implementation "\0", create, \
                   __VA_ARGS__, "", "", )

/* BEEHIVE_TARGET(name, actions[, attributes]): `actions` is a constant array of beehive_action, and
 * each of them that may be called is declared by a BEEHIVE_ACTION. */
#define BEEHIVE_TARGET(name, ...)                                                     \
  BEEHIVE_STATIC_ASSERT(sizeof(#name) > 1, "BEEHIVE_TARGET: the target has no name"); \
  BEEHIVE_TARGET_(BEEHIVE_UNIQUE(beehive_entry_), #name "\0", __VA_ARGS__, "", "", )

/* BEEHIVE_ROUTE(pattern, function[, attributes]): `pattern` is a string literal. */
#define BEEHIVE_ROUTE(pattern, ...)                                                         \
  BEEHIVE_STATIC_ASSERT(sizeof("" pattern) > 1, "BEEHIVE_ROUTE: the route has no pattern"); \
  BEEHIVE_ROUTE_(BEEHIVE_UNIQUE(beehive_entry_), pattern "\0", __VA_ARGS__, "", "", )

/* ---- Who the file is: once in a plugin ---- */

/* BEEHIVE_PLUGIN(id, version[, attributes]): both are string literals. The id is a name in reverse,
 * `com.example.greet`, and stays the same in all versions. */
#define BEEHIVE_PLUGIN(id, ...)                                                      \
  BEEHIVE_STATIC_ASSERT(sizeof("" id) > 1, "BEEHIVE_PLUGIN: the plugin has no id"); \
  BEEHIVE_PLUGIN_(BEEHIVE_UNIQUE(beehive_entry_), id "\0\0", __VA_ARGS__, "", "", )

/* ---- Attributes: string literals, written one after another without commas ---- */

#define BEEHIVE_ATTRIBUTE(key, value) key "=" value "\0"
#define BEEHIVE_PRIORITY(number) BEEHIVE_ATTRIBUTE("priority", BEEHIVE_EXPANDED_TEXT(number))
#define BEEHIVE_LEVEL(level) BEEHIVE_ATTRIBUTE("level", level)
#define BEEHIVE_VERSION(version) BEEHIVE_ATTRIBUTE("version", version) /* "1.4.2" */
#define BEEHIVE_REQUIRES(name) BEEHIVE_ATTRIBUTE("requires", name) /* "log", or "log >=1.2 <2" */
#define BEEHIVE_AFTER(name) BEEHIVE_ATTRIBUTE("after", name)
#define BEEHIVE_ASYNC BEEHIVE_ATTRIBUTE("async", "true") /* initialize beside that of others */
#define BEEHIVE_SCOPE(scope) BEEHIVE_ATTRIBUTE("scope", scope)
#define BEEHIVE_SHARED BEEHIVE_ATTRIBUTE("shared", "true") /* one instance for several services */
#define BEEHIVE_NAME(name) BEEHIVE_ATTRIBUTE("name", name) /* tells two implementations apart */
#define BEEHIVE_ACTION(declaration) BEEHIVE_ATTRIBUTE("action", declaration)
#define BEEHIVE_REMOTE BEEHIVE_ATTRIBUTE("remote", "true") /* of a route */
#define BEEHIVE_ELEVATED BEEHIVE_ATTRIBUTE("remote", "elevated") /* the same; what it opens may be local */
#define BEEHIVE_MATCH(extent) BEEHIVE_ATTRIBUTE("match", extent)
#define BEEHIVE_RETURNS(type) BEEHIVE_ATTRIBUTE("returns", type)
#define BEEHIVE_NEEDS(service) BEEHIVE_ATTRIBUTE("needs", service) /* that it looks up while it is made */
#define BEEHIVE_NAME_IN(language, name) BEEHIVE_ATTRIBUTE("name[" language "]", name) /* of a plugin */
#define BEEHIVE_LICENCE(licence) BEEHIVE_ATTRIBUTE("licence", licence) /* of a plugin: "MIT" */
#define BEEHIVE_HOMEPAGE(address) BEEHIVE_ATTRIBUTE("homepage", address) /* of a plugin */
#define BEEHIVE_ICON(icon) BEEHIVE_ATTRIBUTE("icon", icon) /* of a plugin: a name in the theme, or a path */
#define BEEHIVE_ABI(version) BEEHIVE_ATTRIBUTE("abi-version", version) /* of the table's structure */

/* ---- What they are made of ---- */

/* A priority may be a macro, so here the argument does expand. */
#define BEEHIVE_TEXT_(words) #words
#define BEEHIVE_EXPANDED_TEXT(words) BEEHIVE_TEXT_(words)

#define BEEHIVE_POINTER_(where, name, words)                                   \
  BEEHIVE_STATIC_ASSERT(sizeof(name) > 1, "BeeHive: an entry without a name"); \
  BEEHIVE_NO_QUOTES_(name);                                                    \
  BEEHIVE_IMAGE_ONCE                                                           \
  static const char *const BEEHIVE_UNIQUE(beehive_entry_) BEEHIVE_ENTRY_IN(where) = words

/* The callers append `"", "", ` to the author's arguments. So missing attributes are "", at least
 * one argument is left for `...`, as C11 demands, and attributes that were separated by a comma
 * arrive as `surplus`. */
#define BEEHIVE_MODULE_(entry, names, table, attributes, surplus, ...)                       \
  BEEHIVE_STATIC_ASSERT(sizeof(#table) > 1, "BEEHIVE_MODULE: the module has no operations"); \
  BEEHIVE_NO_SURPLUS_(surplus);                                                              \
  static const beehive_module_table BEEHIVE_PASTE(entry, _table) = {                         \
      sizeof(beehive_module_table), BEEHIVE_MODULE_TABLE_VERSION,                            \
      sizeof(beehive_module_operations), table};                                             \
  BEEHIVE_RECORD_(entry, BEEHIVE_KIND_MODULE,                                                \
                  names #table "\0" BEEHIVE_ATTRIBUTE("abi", "c-module") attributes)

#define BEEHIVE_SERVICE_(entry, names, pointer, attributes, surplus, ...)               \
  BEEHIVE_NO_SURPLUS_(surplus);                                                         \
  static const beehive_service_table BEEHIVE_PASTE(entry, _table) = {                   \
      sizeof(beehive_service_table), BEEHIVE_SERVICE_TABLE_VERSION, sizeof(*(pointer)), \
      pointer};                                                                         \
  BEEHIVE_RECORD_(entry, BEEHIVE_KIND_SERVICE,                                          \
                  names BEEHIVE_ATTRIBUTE("abi", "c-table") attributes)

#define BEEHIVE_FACTORY_(entry, names, make, undo, attributes, surplus, ...)         \
  BEEHIVE_NO_SURPLUS_(surplus);                                                      \
  static const beehive_service_factory BEEHIVE_PASTE(entry, _table) = {              \
      sizeof(beehive_service_factory), BEEHIVE_SERVICE_FACTORY_VERSION, make, undo}; \
  BEEHIVE_RECORD_(entry, BEEHIVE_KIND_SERVICE,                                       \
                  names BEEHIVE_ATTRIBUTE("abi", "c-factory") attributes)

#define BEEHIVE_TARGET_(entry, names, list, attributes, surplus, ...)                   \
  BEEHIVE_NO_SURPLUS_(surplus);                                                         \
  static const beehive_target_table BEEHIVE_PASTE(entry, _table) = {                    \
      sizeof(beehive_target_table), BEEHIVE_TARGET_TABLE_VERSION, sizeof(beehive_action), \
      sizeof(list) / sizeof(*(list)), list};                                            \
  BEEHIVE_RECORD_(entry, BEEHIVE_KIND_TARGET,                                           \
                  names #list "\0" BEEHIVE_ATTRIBUTE("abi", "c-target") attributes)

#define BEEHIVE_ROUTE_(entry, names, function, attributes, surplus, ...)                    \
  BEEHIVE_STATIC_ASSERT(sizeof(#function) > 1, "BEEHIVE_ROUTE: the route has no function"); \
  BEEHIVE_NO_SURPLUS_(surplus);                                                             \
  static const beehive_route_table BEEHIVE_PASTE(entry, _table) = {                         \
      sizeof(beehive_route_table), BEEHIVE_ROUTE_TABLE_VERSION, function};                  \
  BEEHIVE_RECORD_(entry, BEEHIVE_KIND_ROUTE,                                                \
                  names #function "\0" BEEHIVE_ATTRIBUTE("abi", "c-route") attributes)

/* Its context is a word that no reader uses yet. */
#define BEEHIVE_PLUGIN_(entry, names, version, attributes, surplus, ...)                       \
  BEEHIVE_STATIC_ASSERT(sizeof("" version) > 1, "BEEHIVE_PLUGIN: the plugin has no version"); \
  BEEHIVE_NO_SURPLUS_(surplus);                                                                \
  static const uint32_t BEEHIVE_PASTE(entry, _table) = sizeof(uint32_t);                       \
  BEEHIVE_RECORD_(entry, BEEHIVE_KIND_PLUGIN, names BEEHIVE_ATTRIBUTE("version", version) attributes)

#define BEEHIVE_NO_SURPLUS_(surplus) \
  BEEHIVE_STATIC_ASSERT(sizeof(surplus) == 1, "BeeHive: attributes take no commas between them")

/* Written with quotes, they would be part of the name. C takes no character of a literal for a constant. */
#define BEEHIVE_NO_QUOTES_(name)                                \
  BEEHIVE_STATIC_ASSERT(__builtin_strncmp(name, "\"", 1) != 0, \
                        "BeeHive: a name is written without quotes")

#define BEEHIVE_TEXT_SIZE_(words) ((sizeof(words) + 7) / 8 * 8)

/* The context is never null: a constant with a relocation and one without would go into sections
 * of different flags, which gcc refuses. */
#if __SIZEOF_POINTER__ == 4
#define BEEHIVE_HEAD_POINTERS_(context) BEEHIVE_NULL, 0, context, 0
#else
#define BEEHIVE_HEAD_POINTERS_(context) BEEHIVE_NULL, context
#endif

#define BEEHIVE_RECORD_(entry, number, words)                       \
  BEEHIVE_NO_QUOTES_(words);                                        \
  BEEHIVE_IMAGE_ONCE                                                \
  static const struct {                                             \
    beehive_record_head beehive_head;                               \
    char beehive_text[BEEHIVE_TEXT_SIZE_(words)];                   \
  } entry BEEHIVE_ENTRY_IN(BEEHIVE_SECTION_RECORDS) = {             \
      {BEEHIVE_RECORD_HEAD_SIZE + BEEHIVE_TEXT_SIZE_(words),        \
       BEEHIVE_RECORD_VERSION, number, 0, BEEHIVE_RECORD_HEAD_SIZE, \
       BEEHIVE_HEAD_POINTERS_(&BEEHIVE_PASTE(entry, _table))},      \
      words}

#endif
