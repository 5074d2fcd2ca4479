// Finds AMD's libraries, wherever the releases of ROCm have put them. Everything that needs one,
// and everything that reports whether one is there, asks here, so that they cannot disagree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww {

struct RocmLibrary {
  std::string_view what;                 // "AMD's compiler library"
  std::string_view stem;                 // "libamd_comgr"
  std::span<const int> majors;           // of its soname, the preferred first
  std::span<const char* const> entries;  // a file without one of these is not taken
  std::string_view packages;             // "libamd-comgr2 (Debian), comgr (ROCm)"
};

// The compiler (comgr). Its actions have other numbers from 3 on.
extern const RocmLibrary kComgrLibrary;
// HIP's runtime.
extern const RocmLibrary kHipLibrary;
// AMD SMI, which has replaced ROCm SMI.
extern const RocmLibrary kAmdSmiLibrary;
// ROCm SMI. The numbers of its soname do not order its versions: Debian's 1 is of 5.2, ROCm 6.0 has
// 6, and 7.0 has 1 again.
extern const RocmLibrary kRocmSmiLibrary;

// Where to look; the defaults are this machine's.
struct RocmPlaces {
  std::string root;       // put before every folder; empty but in tests
  std::string rocm_path;  // $ROCM_PATH
  std::string home;       // $HOME, for packages of Python
  std::string venv;       // $VIRTUAL_ENV
};
[[nodiscard]] RocmPlaces rocm_places();

// The folders that may hold AMD's libraries, the first to be tried first: those of ROCM_PATH, the
// loader's own (as an empty text), /opt/rocm, /opt/rocm/core and core-X.Y (the highest first),
// /opt/rocm-X.Y.Z, and the package _rocm_sdk_core of Python. Folders that are not there are left
// out.
[[nodiscard]] std::vector<std::string> rocm_folders(const RocmPlaces& places);

struct OpenedLibrary {
  void* handle{};    // never closed: AMD's libraries leave threads and exit handlers behind
  std::string file;  // as it was opened: a path, or the name that the loader found
};
// Opens the first file of the library that loads and has its entries: in ROCM_PATH of any major,
// and elsewhere the preferred major first, wherever it is. A file that is there and cannot be used
// is passed over. Error missing_dependency: what is not there, why each file that is there was not
// taken, and the packages.
[[nodiscard]] Result<OpenedLibrary> open_rocm_library(const RocmLibrary& library,
                                                      const RocmPlaces& places = rocm_places());

}  // namespace ww
