/* wirewatt as a library. It measures the energy of a stretch of a program: that of the device, and
 * that of its on-chip wires by segment.
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
 * segments come from its counters. Nothing from it is a measurement. On real GPUs the device's
 * energy comes from its sensor. The energy of segments comes from the counters of an AMD card where
 * the program asks for them (wirewatt_count), or from the traffic that it reports
 * (wirewatt_add_traffic).
 *
 * The interface is stable: functions keep their meaning, and structures only grow at their end,
 * which is why their first member is their size. Threading: one thread uses a session at a time.
 * Several threads may measure one device at once, each with a session of its own. A stretch has
 * everything that the device did in it, whichever thread launched it. */
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
  WIREWATT_INVALID = 1,     /* an impossible argument or order of calls */
  WIREWATT_NOT_FOUND = 2,   /* no such device or file; a driver that is not loaded */
  WIREWATT_BAD_FILE = 3,    /* the model is damaged, flagged as a misfit, or without an energy */
  WIREWATT_UNSUPPORTED = 4, /* this device cannot do it */
  WIREWATT_DENIED = 5,      /* this user may not */
  WIREWATT_DEVICE = 6       /* device, driver or system failed */
} wirewatt_status;

/* The status of a figure. Only OK, TRANSFERRED and MISFIT have a value. */
typedef enum wirewatt_figure_status {
  WIREWATT_FIGURE_OK = 0,
  WIREWATT_FIGURE_TRANSFERRED = 1,    /* energy per bit and mm carried over from L1-L2, wider */
  WIREWATT_FIGURE_UNAVAILABLE = 2,    /* sensor, counters or model are missing */
  WIREWATT_FIGURE_NOT_IDENTIFIED = 3, /* the model could not determine it */
  WIREWATT_FIGURE_REJECTED = 4,       /* read, but not to be trusted */
  /* The model's calibration is flagged, and WIREWATT_ANYWAY was given: do not rely on the figure.
   */
  WIREWATT_FIGURE_MISFIT = 5
} wirewatt_figure_status;

typedef enum wirewatt_segment {
  WIREWATT_REGISTERS_L1 = 0,
  WIREWATT_L1_L2 = 1,
  WIREWATT_L2_MEMORY = 2,
  WIREWATT_SEGMENTS = 3
} wirewatt_segment;

/* Joules with their 95% interval. All three are NaN if the status has no value. */
typedef struct wirewatt_joules {
  int32_t status; /* wirewatt_figure_status */
  int32_t reserved;
  double value, low, high;
} wirewatt_joules;

typedef struct wirewatt_reading {
  size_t size; /* set it to sizeof(wirewatt_reading) before the call */
  /* 1: a simulated chip, or a model of one, which makes the joules of wires no measurement */
  int32_t is_virtual;
  int32_t reserved;
  double seconds;      /* between begin and end by the device's clock */
  uint64_t dispatches; /* kernels in between, if the device reports them; else 0 */
  wirewatt_joules device;
  wirewatt_joules interconnect; /* sum of the segments that have a figure */
  wirewatt_joules segment[WIREWATT_SEGMENTS];
} wirewatt_reading;

typedef struct wirewatt_session wirewatt_session;

#if defined(__GNUC__)
#define WIREWATT_EXPORT __attribute__((visibility("default")))
#else
#define WIREWATT_EXPORT
#endif

/* "0.2.0" */
WIREWATT_EXPORT const char* wirewatt_version(void);
/* The error of this thread's last failed call, and what to do. Valid until the next failure. */
WIREWATT_EXPORT const char* wirewatt_error(void);

/* Opens a session. device: "virtual"; "gpu:0", "gpu:1", ..., the machine's GPUs in the order of
 * their addresses, AMD's first; "pci:0000:03:00.0", one by its address; or "" for the virtual one
 * in this process, else the first real one that this process may open. "" is refused with
 * WIREWATT_INVALID where a variable such as HIP_VISIBLE_DEVICES hides some of several GPUs, because
 * no sensor says which are left. model: model.json of a calibration, or "" for the device's energy
 * alone. One of another architecture than the virtual chip's is refused with WIREWATT_INVALID; on
 * real devices that is for the program to look at. */
WIREWATT_EXPORT wirewatt_status wirewatt_open(const char* device, const char* model,
                                              wirewatt_session** session);
/* Options of wirewatt_open_with. They add up. */
typedef enum wirewatt_option {
  /* Uses a model that is flagged as a misfit. The wires' figures then have the status MISFIT.
   * Without this option such a model is refused with WIREWATT_BAD_FILE. */
  WIREWATT_ANYWAY = 1
} wirewatt_option;
/* Opens a session with options. Unknown options are refused with WIREWATT_INVALID. */
WIREWATT_EXPORT wirewatt_status wirewatt_open_with(const char* device, const char* model,
                                                   uint32_t options, wirewatt_session** session);
/* Counts an AMD card from inside this process through rocprofiler-sdk, so that the stretches of
 * sessions that are opened on it after this have the energy of segments. Call it before the first
 * call of HIP and before threads are started: it sets variables of the environment, by which HIP's
 * runtime loads wirewatt's tool library, and takes them back at the first begin. device: as in
 * wirewatt_open, but not "virtual". No kernel waits for it. The counts are of the whole card, other
 * processes included, and a stretch needs 20 ms. Where the counters are not to be had, sessions
 * work without them and wirewatt_reason says why. UNSUPPORTED: not a card of AMD's, or a release of
 * ROCm that counts wrong. NOT_FOUND: no rocprofiler-sdk. */
WIREWATT_EXPORT wirewatt_status wirewatt_count(const char* device);
/* Closes a session. NULL is allowed. */
WIREWATT_EXPORT void wirewatt_close(wirewatt_session* session);
/* The device's name. Valid as long as the session. */
WIREWATT_EXPORT const char* wirewatt_device(const wirewatt_session* session);

/* Begin and end a stretch. Finish the queue before each call. A session can begin again after its
 * end. */
WIREWATT_EXPORT wirewatt_status wirewatt_begin(wirewatt_session* session);
WIREWATT_EXPORT wirewatt_status wirewatt_end(wirewatt_session* session, wirewatt_reading* reading);
/* Stands for a toggle rate that the program does not know. The interval then spans what the data of
 * applications do. */
#define WIREWATT_UNKNOWN_TOGGLES (-1.0)
/* Reports traffic between begin and end, on real devices: payload bytes that crossed a segment, and
 * toggles per payload bit (random data 0.5) or WIREWATT_UNKNOWN_TOGGLES. Calls add up. */
WIREWATT_EXPORT wirewatt_status wirewatt_add_traffic(wirewatt_session* session,
                                                     wirewatt_segment segment, double bytes,
                                                     double toggle_rate);
/* Why a figure of the last reading is missing, or a remark on it; "" if there is none. index: a
 * wirewatt_segment, -1 for the device, -2 for the interconnect. Valid until the next end. */
WIREWATT_EXPORT const char* wirewatt_reason(const wirewatt_session* session, int index);

/* --- kernels -------------------------------------------------------------------------------- */

/* Joules of one kernel in the last reading: those of all its launches, above the power at rest.
 * They come from the times of the launches and the sensor's readings (docs/attribution.md). */
typedef struct wirewatt_kernel {
  size_t size; /* set it to sizeof(wirewatt_kernel) before the call */
  const char* name;
  const char* reason; /* why there are no joules; "" if there are */
  uint64_t launches;
  wirewatt_joules energy; /* NOT_IDENTIFIED if the readings do not resolve it */
  /* Launches that would resolve it; NaN if no number would. */
  double launches_wanted;
} wirewatt_kernel;
/* Number of kernels in the last reading. 0 on real devices, unless the program reports its
 * launches.
 */
WIREWATT_EXPORT size_t wirewatt_kernels(const wirewatt_session* session);
/* A kernel of the last reading, by 0, 1, ... Its texts are valid until the next end. */
WIREWATT_EXPORT wirewatt_status wirewatt_kernel_at(const wirewatt_session* session, size_t index,
                                                   wirewatt_kernel* kernel);
/* Covariance of two kernels' joules [J^2], by noise and by the gain that they share; NaN if the
 * readings part no kernel. The variance of a sum is the sum of all covariances. */
WIREWATT_EXPORT double wirewatt_kernel_covariance(const wirewatt_session* session, size_t one,
                                                  size_t other);
/* Reports a launch between begin and end, on real devices: its times in ns of CLOCK_MONOTONIC.
 * Times that lie a second or more outside of the stretch are of another clock, and refused with
 * WIREWATT_INVALID. */
WIREWATT_EXPORT wirewatt_status wirewatt_add_launch(wirewatt_session* session, const char* kernel,
                                                    int64_t start_ns, int64_t end_ns);
typedef enum wirewatt_response {
  WIREWATT_WINDOW = 0, /* a reading is the mean over a window */
  WIREWATT_LAG = 1     /* a reading follows with a time constant */
} wirewatt_response;
/* How the power register responds, as `wirewatt doctor` finds it: window or time constant [s], and
 * its 95% half-width as a share of it. Sensors without an energy counter need it for the joules of
 * kernels, whose gain is taken to be known to 5%, and for the device's: what the register shows of
 * the time before a stretch is then left out, and the interval has that time. Without a response
 * the interval has no such part, and wirewatt_reason says so. */
WIREWATT_EXPORT wirewatt_status wirewatt_set_response(wirewatt_session* session,
                                                      wirewatt_response kind, double seconds,
                                                      double relative_error);

/* Writes the joules of all stretches that have ended in this session, as OpenMetrics text for a
 * monitoring system: by device, segment and status, with their intervals, as `wirewatt top
 * --openmetrics` does. Writes at most `size` bytes with the zero at the end; text may be NULL if
 * size is 0. Returns the bytes that the whole text needs with its zero, or 0 if it fails (see
 * wirewatt_error). Not while another thread uses the session. */
WIREWATT_EXPORT size_t wirewatt_metrics(const wirewatt_session* session, char* text, size_t size);

/* Writes what the wires of a calibration would cost at another technology node, as the JSON of
 * `wirewatt project`. `model`: a calibration's file or folder, of any kind. `card_node_nm`: the
 * node of the card that was calibrated; 0: not known. `options`: 0 or WIREWATT_ANYWAY. Writes at
 * most `size` bytes with the zero at the end; json may be NULL if size is 0. Returns the bytes that
 * the whole text needs with its zero, or 0 if it fails (see wirewatt_error). Needs no session. */
WIREWATT_EXPORT size_t wirewatt_project(const char* model, double node_nm, double card_node_nm,
                                        uint32_t options, char* json, size_t size);
/* The same of a score: the fitted figures beside `truth`, a JSON list of {"name", "truth",
 * "sensed", "unit"}. The truth of a virtual chip is sealed: only `wirewatt score` opens it. */
WIREWATT_EXPORT size_t wirewatt_score(const char* model, const char* truth, char* json,
                                      size_t size);

#ifdef __cplusplus
}
#endif
#endif
