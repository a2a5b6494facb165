/* NVTX ranges for `reprobe run --window`: each module of a program that uses NVTX 3 asks the library named by
 * NVTX_INJECTION64_PATH, which the launcher sets where no other tool has, for its functions. Numbers and layouts are those
 * of NVTX's stable binary interface (nvtx3/nvtxDetail/nvtxTypes.h). Pushed and popped ranges only: those that are started
 * and ended by number have no nesting to follow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kExportCallbacks = 1, kModuleCore = 1, kModuleDomains = 5 };
enum { kPushEx = 8, kPushA = 9, kPushW = 10, kPop = 11 };
enum { kDomainPushEx = 4, kDomainPop = 5, kDomainRegisterStringA = 10 };
enum { kNotTracked = -2 }; /* what NVTX answers where no tool listens */
enum { kAscii = 1, kRegistered = 3 };

typedef void (*any_function)(void);

struct callbacks {
  size_t size;
  int (*get_table)(int module, any_function*** table, unsigned* size);
};

struct attributes { /* nvtxEventAttributes_t, version 2 and 3 */
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};

static void push(const char* name) {
  static void (*forward)(const char*);
  if (!forward) *(void**)&forward = dlsym(RTLD_DEFAULT, "reprobe_range_push");
  if (forward) forward(name ? name : "");
}

static void pop(void) {
  static void (*forward)(void);
  if (!forward) *(void**)&forward = dlsym(RTLD_DEFAULT, "reprobe_range_pop");
  if (forward) forward();
}

static int push_a(const char* name) {
  push(name);
  return kNotTracked;
}

static int push_w(const wchar_t* name) {
  char narrow[512] = "";
  if (name) snprintf(narrow, sizeof narrow, "%ls", name);
  push(narrow);
  return kNotTracked;
}

static int push_ex(const struct attributes* range) {
  const int named = range && range->size >= sizeof *range && (range->message_type == kAscii || range->message_type == kRegistered);
  push(named ? range->message : "");
  return kNotTracked;
}

static int domain_push_ex(void* domain, const struct attributes* range) {
  (void)domain;
  return push_ex(range);
}

static int pop_any(void) {
  pop();
  return kNotTracked;
}

static int domain_pop(void* domain) {
  (void)domain;
  return pop_any();
}

/* The handle is the text itself. Programs register a few names once. */
static void* domain_register_string(void* domain, const char* text) {
  (void)domain;
  return strdup(text ? text : "");
}

static void set(any_function** table, unsigned size, unsigned index, any_function function) {
  if (index < size && table[index]) *table[index] = function;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t)) {
  const struct callbacks* callbacks = get_export_table(kExportCallbacks);
  any_function** table;
  unsigned size;
  if (!callbacks || callbacks->size < sizeof *callbacks) return 0;
  if (callbacks->get_table(kModuleCore, &table, &size)) {
    set(table, size, kPushEx, (any_function)push_ex);
    set(table, size, kPushA, (any_function)push_a);
    set(table, size, kPushW, (any_function)push_w);
    set(table, size, kPop, (any_function)pop_any);
  }
  if (callbacks->get_table(kModuleDomains, &table, &size)) {
    set(table, size, kDomainPushEx, (any_function)domain_push_ex);
    set(table, size, kDomainPop, (any_function)domain_pop);
    set(table, size, kDomainRegisterStringA, (any_function)domain_register_string);
  }
  return 1;
}
