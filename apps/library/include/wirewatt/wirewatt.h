/* wirewatt as a library: joules of a stretch of a program, of the device and of its on-chip wires
 * by segment.
 *
 *   wirewatt_session* session;
 *   if (wirewatt_open("", "model.json", &session) != WIREWATT_OK) puts(wirewatt_error());
 *   wirewatt_begin(session);
 *   ... launch kernels, finish the queue ...
 *   wirewatt_reading reading = {sizeof reading};
 *   wirewatt_end(session, &reading);
 *   wirewatt_close(session);
 *
 * On the virtual GPU (start the program by `wirewatt run --device virtual:w9100 -- PROGRAM`) the
 * segments come from its counters; nothing from it is a measurement. On real GPUs the device's
 * energy comes from its sensor, and the segments' from what the program says it moved
 * (wirewatt_add_traffic), since no counter is read inside a process.
 *
 * The interface is stable: functions keep their meaning, structures only grow at their end (hence
 * their first member). Threading: one session is used by one thread at a time. */
#ifndef WIREWATT_WIREWATT_H
#define WIREWATT_WIREWATT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIREWATT_API_VERSION 1

typedef enum wirewatt_status {
  WIREWATT_OK = 0,
  WIREWATT_INVALID = 1,     /* an argument or an order of calls that makes no sense */
  WIREWATT_NOT_FOUND = 2,   /* no such device or file; a driver that is not loaded */
  WIREWATT_BAD_FILE = 3,    /* the model is damaged, or cannot tell */
  WIREWATT_UNSUPPORTED = 4, /* this device cannot do it */
  WIREWATT_DENIED = 5,      /* this user may not */
  WIREWATT_DEVICE = 6       /* device, driver or system failed */
} wirewatt_status;

/* What a figure is worth. Only OK and TRANSFERRED have one. */
typedef enum wirewatt_figure_status {
  WIREWATT_FIGURE_OK = 0,
  WIREWATT_FIGURE_TRANSFERRED = 1,    /* energy per bit and mm carried over from L1-L2, wider */
  WIREWATT_FIGURE_UNAVAILABLE = 2,    /* sensor, counters or model are not there */
  WIREWATT_FIGURE_NOT_IDENTIFIED = 3, /* the model cannot tell */
  WIREWATT_FIGURE_REJECTED = 4        /* read, but not to be trusted */
} wirewatt_figure_status;

typedef enum wirewatt_segment {
  WIREWATT_REGISTERS_L1 = 0,
  WIREWATT_L1_L2 = 1,
  WIREWATT_L2_MEMORY = 2,
  WIREWATT_SEGMENTS = 3
} wirewatt_segment;

/* Joules with their 95% interval; all three are NaN where the status has no figure. */
typedef struct wirewatt_joules {
  int32_t status; /* wirewatt_figure_status */
  int32_t reserved;
  double value, low, high;
} wirewatt_joules;

typedef struct wirewatt_reading {
  size_t size;        /* set it to sizeof(wirewatt_reading) before the call */
  int32_t is_virtual; /* 1: a simulated chip, not a measurement */
  int32_t reserved;
  double seconds;      /* between begin and end by the device's clock */
  uint64_t dispatches; /* kernels in between, where the device tells; else 0 */
  wirewatt_joules device;
  wirewatt_joules interconnect; /* segments with a figure, together */
  wirewatt_joules segment[WIREWATT_SEGMENTS];
} wirewatt_reading;

typedef struct wirewatt_session wirewatt_session;

#if defined(__GNUC__)
#define WIREWATT_EXPORT __attribute__((visibility("default")))
#else
#define WIREWATT_EXPORT
#endif

/* "0.1.0" */
WIREWATT_EXPORT const char* wirewatt_version(void);
/* What went wrong in this thread's last call that failed, and what to do. Lives until the next. */
WIREWATT_EXPORT const char* wirewatt_error(void);

/* device: "virtual", "gpu:0", "gpu:1", ... as `wirewatt doctor` lists them, "" for the best there
 * is. model: model.json of a calibration, "" for the device's energy alone. */
WIREWATT_EXPORT wirewatt_status wirewatt_open(const char* device, const char* model,
                                              wirewatt_session** session);
/* NULL is let through. */
WIREWATT_EXPORT void wirewatt_close(wirewatt_session* session);
/* Its name; lives as long as the session. */
WIREWATT_EXPORT const char* wirewatt_device(const wirewatt_session* session);

/* Finish the queue before both. A session can be begun again after its end. */
WIREWATT_EXPORT wirewatt_status wirewatt_begin(wirewatt_session* session);
WIREWATT_EXPORT wirewatt_status wirewatt_end(wirewatt_session* session, wirewatt_reading* reading);
/* Between them, on real devices: payload bytes that crossed a segment, and toggles per payload bit
 * (random data 0.5; the average of applications 0.34). Adds up. */
WIREWATT_EXPORT wirewatt_status wirewatt_add_traffic(wirewatt_session* session,
                                                     wirewatt_segment segment, double bytes,
                                                     double toggle_rate);
/* Why a figure of the last reading is missing, or what to know about it; "" for nothing. index: a
 * wirewatt_segment, -1 for the device, -2 for the interconnect. Lives until the next end. */
WIREWATT_EXPORT const char* wirewatt_reason(const wirewatt_session* session, int index);

#ifdef __cplusplus
}
#endif
#endif
