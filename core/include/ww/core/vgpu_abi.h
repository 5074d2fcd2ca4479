/* The one narrow door between the virtual GPU's OpenCL driver and the measuring side.
 *
 * libwirewatt_vgpu.so exports ww_vgpu_get_abi(); a caller that finds the driver loaded in its own
 * process (dlopen with RTLD_NOLOAD, then dlsym) gets this table. It offers what a real card's
 * driver would: a clock, sensor readings, counters, clock states, and the published floorplan,
 * which may be in error as published ones are. It never tells the chip's sealed truth, nor how far
 * a sensor may be off: no driver says so.
 *
 * Threading: every function may be called from any thread. Times are the chip's own, in
 * nanoseconds since the chip was powered on. Functions that return int give 0 on success and a
 * negative value on failure. Strings live as long as the driver is loaded. */
#ifndef WW_CORE_VGPU_ABI_H
#define WW_CORE_VGPU_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WW_VGPU_ABI_VERSION 4u
#define WW_VGPU_GET_ABI_SYMBOL "ww_vgpu_get_abi"
#define WW_VGPU_LIBRARY_NAME "libwirewatt_vgpu.so"

enum ww_vgpu_sample_flags {
  WW_VGPU_SAMPLE_VALID = 1u,    /* unset: the sensor gave no answer at this tick */
  WW_VGPU_SAMPLE_NO_ENERGY = 2u /* the sensor has no energy accumulator */
};

/* One tick of the power sensor, as its registers read: quantised, averaged, delayed, noisy. */
typedef struct ww_vgpu_sample {
  uint64_t index;         /* 0-based, consecutive since power-on */
  int64_t time_ns;        /* chip time at which the registers were refreshed */
  int64_t power_uw;       /* power register [uW] */
  int64_t energy_ticks;   /* energy accumulator, 2^-16 J a tick */
  int32_t temperature_mc; /* edge temperature [0.001 C], quantised as the sensor does */
  int32_t voltage_uv;     /* core voltage as the sensor shows it [uV]; 0: it shows none */
  int32_t clock_khz;      /* core clock [kHz] */
  uint32_t flags;         /* ww_vgpu_sample_flags */
} ww_vgpu_sample;

/* Energy accumulators of the package's parts, 2^-16 J a tick, as MI300's pm_metrics gives them. */
#define WW_VGPU_MOST_RAILS 4
typedef struct ww_vgpu_rail_sample {
  uint64_t index;                           /* 0-based, consecutive since power-on */
  int64_t time_ns;                          /* chip time at which the firmware filled them */
  int64_t energy_ticks[WW_VGPU_MOST_RAILS]; /* by rail; the first rail_count() of them */
} ww_vgpu_rail_sample;

typedef struct ww_vgpu_sensor_info {
  int64_t period_ns; /* refresh period as the data sheet states it */
  int64_t power_resolution_uw;
  int32_t temperature_resolution_mc;
} ww_vgpu_sensor_info;

typedef struct ww_vgpu_dvfs_state {
  int32_t voltage_uv; /* nominal */
  int32_t clock_khz;
} ww_vgpu_dvfs_state;

typedef struct ww_vgpu_chip_info {
  const char* name;   /* "w9100", "random", or the chip file's name */
  const char* target; /* "gfx701" */
  uint64_t seed;      /* 0 where the chip was not drawn */
  int32_t shader_engines, cus_per_engine, l2_channels;
  /* Addresses go to channels in turn, so many bytes each; 0: in an order that nobody says. */
  int32_t channel_interleave_bytes;
  int32_t bytes_per_clock_per_channel; /* peak of one L2 channel towards the L1s */
  int64_t l1_bytes, l2_bytes;
} ww_vgpu_chip_info;

typedef struct ww_vgpu_dispatch {
  uint64_t id; /* 0-based, consecutive since power-on */
  const char* kernel;
  int64_t start_ns, end_ns;
  uint32_t replayed; /* 1: identical launch replayed rather than executed */
} ww_vgpu_dispatch;

typedef struct ww_vgpu_abi {
  uint32_t version; /* WW_VGPU_ABI_VERSION */

  int64_t (*now_ns)(void);
  /* Idles the chip until the given time; returns at once if it has passed. Waits for queued
   * work. */
  void (*sleep_until_ns)(int64_t time_ns);

  const ww_vgpu_chip_info* (*chip_info)(void);
  const ww_vgpu_sensor_info* (*sensor_info)(void);
  /* The published floorplan as TOML text (format: model/floorplans/README.md); empty where none is
   * public. */
  const char* (*public_floorplan_toml)(void);

  /* Copies up to `capacity` samples whose index is >= first_index; returns how many. */
  uint64_t (*samples_since)(uint64_t first_index, ww_vgpu_sample* out, uint64_t capacity);

  int32_t (*dvfs_state_count)(void);
  int (*dvfs_state)(int32_t index, ww_vgpu_dvfs_state* out);
  int32_t (*dvfs_current)(void);
  int (*dvfs_select)(int32_t index);

  /* Counters under AMD's names (TCP_*, TCC_*, SQ_*), summed over instances, per dispatch. */
  uint64_t (*dispatch_count)(void);
  int (*dispatch)(uint64_t id, ww_vgpu_dispatch* out);
  uint32_t (*counter_count)(void);
  const char* (*counter_name)(uint32_t counter);
  int (*dispatch_counters)(uint64_t id, double* values, uint32_t capacity);

  /* What timing mode has seen so far, as JSON (docs/timing.md); NULL in functional mode. Valid
   * until the next call. */
  const char* (*timing_report)(void);

  /* The rails that the firmware meters apart, "socket_energy", "aid_energy", ...; 0 of them on most
   * chips. rails_since() is to them what samples_since() is to the sensor. */
  uint32_t (*rail_count)(void);
  const char* (*rail_name)(uint32_t rail);
  uint64_t (*rails_since)(uint64_t first_index, ww_vgpu_rail_sample* out, uint64_t capacity);
} ww_vgpu_abi;

/* What there is to choose from, without powering a chip on: public facts alone. A caller may load
 * the driver for it. Strings live as long as the driver is loaded, those of data_sheet() until the
 * next call in the same thread. */
typedef struct ww_vgpu_catalog {
  uint32_t version; /* WW_VGPU_CATALOG_VERSION */

  /* The built-in chips. */
  uint32_t (*chip_count)(void);
  const char* (*chip_name)(uint32_t chip);
  const char* (*chip_description)(uint32_t chip); /* "AMD FirePro W9100, gfx701, ..." */
  /* The data sheet of a chip as TOML, with the public keys of a chip file: of a built-in chip,
   * "random" (then of that seed and class) or a path that ends in .toml. NULL on failure; *error
   * then says why. */
  const char* (*data_sheet)(const char* chip, uint64_t seed, const char* chip_class,
                            const char** error);
} ww_vgpu_catalog;

#define WW_VGPU_CATALOG_VERSION 1u
#define WW_VGPU_GET_CATALOG_SYMBOL "ww_vgpu_get_catalog"
/* NULL when the driver does not speak `version`. */
typedef const ww_vgpu_catalog* (*ww_vgpu_get_catalog_fn)(uint32_t version);

/* NULL when the driver does not speak `version`. The first call powers the chip on. */
typedef const ww_vgpu_abi* (*ww_vgpu_get_abi_fn)(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif
