/* Goes into every process under `reprobe run` (LD_PRELOAD) and loads the observer where LibTorch is.
 *
 * It needs only libc, so shells, launchers and programs that know nothing of LibTorch run under it unharmed. It wraps
 * __libc_start_main: when the program's main is about to start, all libraries it is linked to are mapped and their
 * static initialisers have run. What happens in a process goes as one line into <run directory>/processes:
 *   pid TAB executable TAB observed|not-observed TAB reason
 * With REPROBE_REPLAY set, saved cases are re-executed in place of main, with the operators that the static initialisers
 * have registered; main is never called.
 * Nothing is written to the program's own streams but why a program that asks to be observed is not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*main_function)(int, char**, char**);
typedef int (*start_main_function)(main_function, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

static main_function program_main;

static int find_libtorch(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(info->dlpi_name, '/');
  name = name ? name + 1 : info->dlpi_name;
  if (strncmp(name, "libtorch_cpu.so", 15) == 0) {
    *(const char**)found = info->dlpi_name;
    return 1;
  }
  return 0;
}

static void report(const char* state, const char* reason) {
  const char* directory = getenv("REPROBE_RUN_DIRECTORY");
  if (!directory) return;
  char path[4096], executable[1024], line[3072];
  if ((size_t)snprintf(path, sizeof path, "%s/processes", directory) >= sizeof path) return;
  ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  executable[length > 0 ? length : 0] = 0;
  int written = snprintf(line, sizeof line, "%ld\t%s\t%s\t%.1500s", (long)getpid(), executable, state, reason);
  if (written <= 0) return;
  size_t used = (size_t)written < sizeof line - 1 ? (size_t)written : sizeof line - 2;
  for (size_t i = 0; i < used; ++i)
    if (line[i] == '\n') line[i] = ' ';
  line[used++] = '\n';
  int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  ssize_t ignored = write(file, line, used); /* one write: lines of several processes do not mix */
  (void)ignored;
  close(file);
}

static const char* libtorch_mapped(void) {
  const char* libtorch = NULL;
  dl_iterate_phdr(find_libtorch, &libtorch);
  return libtorch;
}

/* Calls `entry` of the observer, where LibTorch is. */
static void observe(const char* entry) {
  const char* libtorch = libtorch_mapped();
  if (!libtorch) {
    report("not-observed", "not linked to LibTorch (programs that load it later, as Python does, are not observed yet)");
    return;
  }
  const char* observer = getenv("REPROBE_OBSERVER");
  if (!observer || !*observer) {
    report("not-observed", "this build of Reprobe has no operation observer");
    return;
  }
  /* Global: reprobe/observe.h looks its functions up. It exports nothing else. */
  void* handle = dlopen(observer, RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    const char* reason = dlerror();
    report("not-observed", reason ? reason : "the observer does not load");
    return;
  }
  const char* (*start)(const char*, const char*);
  *(void**)&start = dlsym(handle, entry);
  const char* failure = start ? start(libtorch, getenv("REPROBE_RUN_DIRECTORY")) : "the observer is of another version";
  if (failure)
    report("not-observed", failure);
  else
    report("observed", libtorch);
}

static int observed_main(int argc, char** argv, char** environment) {
  if (getenv("REPROBE_REPLAY")) {
    observe("reprobe_replay");
    _exit(0); /* destructors of a program that never ran are not ours to call */
  }
  observe("reprobe_observe");
  /* Without a run directory the shim does nothing in the processes that this one starts. */
  if (getenv("REPROBE_ONLY_THIS_PROCESS")) {
    unsetenv("REPROBE_RUN_DIRECTORY");
    unsetenv("REPROBE_ONLY_THIS_PROCESS");
  }
  return program_main(argc, argv, environment);
}

/* Preloaded by hand, for launchers that own the command line: REPROBE_OUTPUT asks for measurements, and no `reprobe run`
 * is around. Then this process becomes one, which starts the program again. The program's own static initialisers have
 * not run yet. */
static void become_launcher(char** argv) {
  char program[4096], launcher[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return;
  program[length] = 0;
  const char* named = getenv("REPROBE_EXECUTABLE");
  Dl_info shim;
  if (named && *named) {
    snprintf(launcher, sizeof launcher, "%s", named);
  } else if (dladdr((void*)&become_launcher, &shim) && shim.dli_fname) {
    const char* name = strrchr(shim.dli_fname, '/');
    const int folder = name ? (int)(name - shim.dli_fname) : 1;
    snprintf(launcher, sizeof launcher, "%.*s/../bin/reprobe", folder, name ? shim.dli_fname : ".");
  } else {
    return;
  }
  int count = 0;
  while (argv[count]) ++count;
  char** arguments = calloc((size_t)count + 4, sizeof *arguments);
  if (!arguments) return;
  arguments[0] = (char*)"reprobe";
  arguments[1] = (char*)"run";
  arguments[2] = (char*)"--";
  memcpy(arguments + 3, argv, (size_t)count * sizeof *arguments);
  setenv("REPROBE_PROGRAM", program, 1);
  execv(launcher, arguments);
  dprintf(STDERR_FILENO, "reprobe: the program runs unobserved: %s: %s (REPROBE_EXECUTABLE names it)\n", launcher,
          strerror(errno));
  unsetenv("REPROBE_PROGRAM");
  free(arguments);
}

__attribute__((visibility("default"))) int __libc_start_main(main_function main, int argc, char** argv,
                                                              void (*init)(void), void (*fini)(void),
                                                              void (*rtld_fini)(void), void* stack_end) {
  start_main_function next;
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  if (!next) _exit(127);
  program_main = main;
  const int in_run = getenv("REPROBE_RUN_DIRECTORY") != NULL;
  const char* output = getenv("REPROBE_OUTPUT");
  if (!in_run && output && *output && argc > 0 && libtorch_mapped()) become_launcher(argv);
  /* Outside of a run there is nothing to do. */
  return next(in_run ? observed_main : main, argc, argv, init, fini, rtld_fini, stack_end);
}
