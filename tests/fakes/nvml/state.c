#include "state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TEXT 65536

static char content[MAX_TEXT];

double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void state_read(void) {
  const char *path = getenv("NVIDIA_FAKE_STATE");
  FILE *file = path ? fopen(path, "r") : NULL;
  content[0] = '\n';
  size_t length = file ? fread(content + 1, 1, MAX_TEXT - 2, file) : 0;
  content[length + 1] = 0;
  if (file) fclose(file);
}

static const char *find(const char *key) {
  char wanted[160];
  snprintf(wanted, sizeof wanted, "\n%s=", key);
  const char *line = strstr(content, wanted);
  return line ? line + strlen(wanted) : NULL;
}

static const char *find_for(int device, const char *key) {
  char own[160];
  snprintf(own, sizeof own, "%d.%s", device, key);
  const char *value = device == EVERY_DEVICE ? NULL : find(own);
  return value ? value : find(key);
}

const char *state_text(int device, const char *key, const char *fallback) {
  static _Thread_local char text[16384];
  const char *value = find_for(device, key);
  if (!value) return fallback;
  size_t length = strcspn(value, "\n");
  if (length >= sizeof text) length = sizeof text - 1;
  memcpy(text, value, length);
  text[length] = 0;
  return text;
}

double state_number(int device, const char *key, double fallback) {
  const char *value = find_for(device, key);
  return value ? strtod(value, NULL) : fallback;
}

int state_has(int device, const char *key) { return find_for(device, key) != NULL; }

/* Calls visit for each stretch of constant power that overlaps [from, to]. */
static double over(int device, double from_s, double to_s, double *last_watts) {
  const char *rest = state_text(device, "power", "100");
  double joules = 0, begin_s = -INFINITY, watts = 0;
  if (!strchr(rest, ':')) {
    *last_watts = strtod(rest, NULL);
    return *last_watts * (to_s - from_s);
  }
  while (*rest) {
    char *end;
    double next_s = strtod(rest, &end), next_watts = strtod(end + 1, &end);
    double low = fmax(begin_s, from_s), high = fmin(next_s, to_s);
    if (high > low) joules += watts * (high - low);
    if (next_s > to_s) {
      *last_watts = watts;
      return joules;
    }
    begin_s = next_s, watts = next_watts;
    rest = *end == ',' ? end + 1 : end;
  }
  *last_watts = watts;
  double low = fmax(begin_s, from_s);
  return to_s > low ? joules + watts * (to_s - low) : joules;
}

double watts_at(int device, double at_s) {
  double watts;
  over(device, at_s, at_s, &watts);
  return watts;
}

double joules_between(int device, double from_s, double to_s) {
  double watts;
  return over(device, from_s, to_s, &watts);
}
