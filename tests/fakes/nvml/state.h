/* The world that the fake driver shows: lines of key=value in the file that NVIDIA_FAKE_STATE names.
 *
 * The file is read again at every call, so a test changes the world while the program under test runs
 * (write a new file and rename it over the old one).  A key can be had for one device by writing its index
 * before it: "power" is for all, "1.power" for device 1 only.
 */
#ifndef NVIDIA_FAKE_STATE_H
#define NVIDIA_FAKE_STATE_H

#define MAX_DEVICES 16
#define EVERY_DEVICE (-1)

void state_read(void);
/* Text of a key for a device, or fallback.  The result lives until the next call of the same thread. */
const char *state_text(int device, const char *key, const char *fallback);
double state_number(int device, const char *key, double fallback);
int state_has(int device, const char *key);

/* Seconds of CLOCK_MONOTONIC. */
double now_s(void);
/* Watts at a time, and joules between two: key "power" is TIME:WATTS,TIME:WATTS,... or one number. */
double watts_at(int device, double at_s);
double joules_between(int device, double from_s, double to_s);

#endif
