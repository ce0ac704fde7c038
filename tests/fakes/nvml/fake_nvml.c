/* A libnvidia-ml.so.1 for tests: the real Python binding loads it in place of the driver's.
 *
 *   cc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 fake_nvml.c state.c -lm -lpthread
 *   LD_LIBRARY_PATH=. NVIDIA_FAKE_STATE=state.txt python ...
 *
 * Keys of the state file (state.h says how it is read), with their defaults:
 *   devices=1  name=NVIDIA H100 80GB HBM3  driver=580.95.05  uuid=GPU-fake0000-0000-0000-0000-00000000000N
 *   cc_major=9 cc_minor=0                 compute capability
 *   power=100                             watts, or TIME:WATTS,... on the monotonic clock: a step profile
 *   loaded_at=0                           when the driver was loaded: the energy counter is 0 then
 *   step_ms=100  average_ms=1000          the counter's tick; the window of the averaged power
 *   energy_mj=N                           a fixed counter in place of the integral
 *   limit_mw=700000 default_limit_mw=700000 temp=41 sm_clock=1980 mem_clock=2619 util_gpu=0 util_mem=0
 *   reasons=0 mem_total=85899345920 mem_used=1073741824 ecc_corr=0 ecc_uncorr=0 mig=0 processes=PID:BYTES,...
 *   remapped=0:0:0:0                      corrected, uncorrected, pending, failed
 *   field.N=VALUE  field_scope.N=S        value of field N, and the only scope that answers
 *   xid=SERIAL:DEVICE:CODE                an error event each time that the serial grows
 *   fail.FUNCTION=CODE  fail.*=CODE  fail.field.N=CODE  delay_ms.FUNCTION=N
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

enum {
  OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7, TIMEOUT = 10
};
enum { UNSIGNED_INT = 1, UNSIGNED_LONG_LONG = 3 };
enum {
  FIELD_ENERGY = 83, FIELD_POWER_AVERAGE = 185, FIELD_POWER_INSTANT = 186
};

typedef int Result;
typedef struct { int number; } *Device;
typedef unsigned long long Long;

static struct { int number; } devices[MAX_DEVICES];
static pthread_mutex_t world = PTHREAD_MUTEX_INITIALIZER;
static int inits;
static long last_xid;

static int number_of(Device device) {
  long number = (int *)device - (int *)devices;
  return number >= 0 && number < MAX_DEVICES ? (int)number : EVERY_DEVICE;
}

/* Every call begins here: it may be slow, it may fail, and the library may not be initialised. */
static Result enter(const char *function, int device) {
  char key[128];
  pthread_mutex_lock(&world);
  state_read();
  snprintf(key, sizeof key, "delay_ms.%s", function);
  double delay_ms = state_number(device, key, 0);
  if (delay_ms > 0) {
    /* Only the caller hangs, as in a driver that waits for one board. */
    pthread_mutex_unlock(&world);
    usleep((useconds_t)(delay_ms * 1000));
    pthread_mutex_lock(&world);
    state_read();
  }
  snprintf(key, sizeof key, "fail.%s", function);
  Result result = (Result)state_number(device, key, state_number(device, "fail.*", 0));
  if (!strcmp(function, "nvmlShutdown")) result = OK;
  if (!result && !inits && strcmp(function, "nvmlInitWithFlags")) result = UNINITIALIZED;
  if (!result && device != EVERY_DEVICE && device >= (int)state_number(EVERY_DEVICE, "devices", 1))
    result = INVALID_ARGUMENT;
  return result;
}

/* For tests of who lets go of the driver: one line a word, if NVIDIA_FAKE_DIARY names a file. */
static void note(const char *word) {
  const char *path = getenv("NVIDIA_FAKE_DIARY");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\n", word);
  fclose(file);
}

static Result leave(Result result) {
  pthread_mutex_unlock(&world);
  return result;
}

#define ENTER(device)                        \
  do {                                       \
    Result result = enter(__func__, device); \
    if (result) return leave(result);        \
  } while (0)

static Result copy(char *out, unsigned size, const char *text) {
  snprintf(out, size, "%s", text);
  return leave(OK);
}

static const char *uuid_of(int number) {
  static char made[64];
  snprintf(made, sizeof made, "GPU-fake0000-0000-0000-0000-%012x", number);
  return state_text(number, "uuid", made);
}

static Long energy_mj(int number) {
  if (state_has(number, "energy_mj")) return (Long)state_number(number, "energy_mj", 0);
  double loaded_s = state_number(number, "loaded_at", 0), step_s = state_number(number, "step_ms", 100) / 1000;
  double since_s = now_s() - loaded_s;
  if (step_s > 0) since_s = (double)(Long)(since_s / step_s) * step_s;
  return since_s > 0 ? (Long)(joules_between(number, loaded_s, loaded_s + since_s) * 1000) : 0;
}

static unsigned average_mw(int number) {
  double window_s = state_number(number, "average_ms", 1000) / 1000, end_s = now_s();
  return (unsigned)(joules_between(number, end_s - window_s, end_s) / window_s * 1000);
}

/* ---- the library ---- */
Result nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  ENTER(EVERY_DEVICE);
  note("init");
  inits++;
  return leave(OK);
}
Result nvmlShutdown(void) {
  enter(__func__, EVERY_DEVICE);
  if (inits > 0) {
    note("shutdown");
    inits--;
  }
  return leave(OK);
}
const char *nvmlErrorString(Result result) { return result == 999 ? "Unknown Error" : "fake error"; }
Result nvmlSystemGetDriverVersion(char *out, unsigned size) {
  ENTER(EVERY_DEVICE);
  return copy(out, size, state_text(EVERY_DEVICE, "driver", "580.95.05"));
}
Result nvmlDeviceGetCount_v2(unsigned *out) {
  ENTER(EVERY_DEVICE);
  *out = (unsigned)state_number(EVERY_DEVICE, "devices", 1);
  return leave(OK);
}
Result nvmlDeviceGetHandleByIndex_v2(unsigned index, Device *out) {
  ENTER((int)index);
  *out = (Device)&devices[index];
  return leave(OK);
}

/* ---- one device ---- */
Result nvmlDeviceGetName(Device device, char *out, unsigned size) {
  ENTER(number_of(device));
  return copy(out, size, state_text(number_of(device), "name", "NVIDIA H100 80GB HBM3"));
}
Result nvmlDeviceGetUUID(Device device, char *out, unsigned size) {
  ENTER(number_of(device));
  return copy(out, size, uuid_of(number_of(device)));
}
Result nvmlDeviceGetCudaComputeCapability(Device device, int *major, int *minor) {
  ENTER(number_of(device));
  *major = (int)state_number(number_of(device), "cc_major", 9);
  *minor = (int)state_number(number_of(device), "cc_minor", 0);
  return leave(OK);
}
Result nvmlDeviceGetPowerUsage(Device device, unsigned *out) {
  ENTER(number_of(device));
  *out = average_mw(number_of(device));
  return leave(OK);
}
Result nvmlDeviceGetTotalEnergyConsumption(Device device, Long *out) {
  ENTER(number_of(device));
  *out = energy_mj(number_of(device));
  return leave(OK);
}

#define NUMBER(function, type, key, fallback)                       \
  Result function(Device device, type *out) {                       \
    ENTER(number_of(device));                                       \
    *out = (type)state_number(number_of(device), key, fallback);    \
    return leave(OK);                                               \
  }
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, "limit_mw", 700000)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, "default_limit_mw", 700000)
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, Long, "reasons", 0)

Result nvmlDeviceGetTemperature(Device device, int sensor, unsigned *out) {
  (void)sensor;
  ENTER(number_of(device));
  *out = (unsigned)state_number(number_of(device), "temp", 41);
  return leave(OK);
}
Result nvmlDeviceGetClockInfo(Device device, int domain, unsigned *out) {
  ENTER(number_of(device));
  *out = (unsigned)(domain == 2 ? state_number(number_of(device), "mem_clock", 2619)
                                : state_number(number_of(device), "sm_clock", 1980));
  return leave(OK);
}
Result nvmlDeviceGetUtilizationRates(Device device, unsigned *out) {
  ENTER(number_of(device));
  out[0] = (unsigned)state_number(number_of(device), "util_gpu", 0);
  out[1] = (unsigned)state_number(number_of(device), "util_mem", 0);
  return leave(OK);
}
Result nvmlDeviceGetMemoryInfo(Device device, Long *out) {
  ENTER(number_of(device));
  out[0] = (Long)state_number(number_of(device), "mem_total", 85899345920.);
  out[2] = (Long)state_number(number_of(device), "mem_used", 1073741824.);
  out[1] = out[0] - out[2];
  return leave(OK);
}
Result nvmlDeviceGetTotalEccErrors(Device device, int kind, int counter, Long *out) {
  (void)counter;
  ENTER(number_of(device));
  *out = (Long)state_number(number_of(device), kind == 0 ? "ecc_corr" : "ecc_uncorr", 0);
  return leave(OK);
}
Result nvmlDeviceGetRemappedRows(Device device, unsigned *corrected, unsigned *lost, unsigned *pending, unsigned *failed) {
  ENTER(number_of(device));
  sscanf(state_text(number_of(device), "remapped", "0:0:0:0"), "%u:%u:%u:%u", corrected, lost, pending, failed);
  return leave(OK);
}
Result nvmlDeviceGetMigMode(Device device, unsigned *current, unsigned *pending) {
  ENTER(number_of(device));
  *current = *pending = (unsigned)state_number(number_of(device), "mig", 0);
  return leave(OK);
}

typedef struct { unsigned pid; Long memory; unsigned gpu_instance, compute_instance; } Process;
Result nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned *count, Process *out) {
  ENTER(number_of(device));
  unsigned room = *count, found = 0;
  for (const char *rest = state_text(number_of(device), "processes", ""); *rest; found++) {
    char *end;
    unsigned pid = (unsigned)strtoul(rest, &end, 10);
    Long memory = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
    if (out && found < room) out[found] = (Process){pid, memory, ~0u, ~0u};
    rest = *end == ',' ? end + 1 : end;
  }
  *count = found;
  return leave(found > room || (found && !out) ? INSUFFICIENT_SIZE : OK);
}

typedef struct {
  unsigned id, scope;
  int64_t timestamp, latency;
  int type, result;
  union { double real; unsigned whole; Long big; } value;
} Field;
static Result field(int number, Field *field) {
  char key[64];
  snprintf(key, sizeof key, "fail.field.%u", field->id);
  Result result = (Result)state_number(number, key, 0);
  if (result) return result;
  snprintf(key, sizeof key, "field_scope.%u", field->id);
  if (state_has(number, key) && field->scope != (unsigned)state_number(number, key, 0)) return NOT_SUPPORTED;
  snprintf(key, sizeof key, "field.%u", field->id);
  field->type = UNSIGNED_LONG_LONG;
  if (state_has(number, key)) return field->value.big = (Long)state_number(number, key, 0), OK;
  if (field->id == FIELD_ENERGY) return field->value.big = energy_mj(number), OK;
  field->type = UNSIGNED_INT;
  if (field->id == FIELD_POWER_AVERAGE) return field->value.whole = average_mw(number), OK;
  if (field->id == FIELD_POWER_INSTANT) return field->value.whole = (unsigned)(watts_at(number, now_s()) * 1000), OK;
  return NOT_SUPPORTED;
}
Result nvmlDeviceGetFieldValues(Device device, int count, Field *fields) {
  ENTER(number_of(device));
  for (int i = 0; i < count; i++) fields[i].result = field(number_of(device), &fields[i]);
  return leave(OK);
}

/* ---- events ---- */
typedef struct { Device device; Long type, data; unsigned gpu_instance, compute_instance; } Event;
Result nvmlEventSetCreate(void **out) {
  ENTER(EVERY_DEVICE);
  last_xid = strtol(state_text(EVERY_DEVICE, "xid", "0"), NULL, 10); /* what is over is not told */
  *out = &last_xid;
  return leave(OK);
}
Result nvmlEventSetFree(void *set) {
  (void)set;
  ENTER(EVERY_DEVICE);
  return leave(OK);
}
Result nvmlDeviceRegisterEvents(Device device, Long types, void *set) {
  (void)types, (void)set;
  ENTER(number_of(device));
  return leave(OK);
}
Result nvmlEventSetWait_v2(void *set, Event *out, unsigned timeout_ms) {
  (void)set, (void)timeout_ms;
  ENTER(EVERY_DEVICE);
  long serial;
  int device;
  Long code;
  if (sscanf(state_text(EVERY_DEVICE, "xid", ""), "%ld:%d:%llu", &serial, &device, &code) != 3 || serial <= last_xid)
    return leave(TIMEOUT);
  last_xid = serial;
  *out = (Event){(Device)&devices[device], 8, code, ~0u, ~0u};
  return leave(OK);
}
