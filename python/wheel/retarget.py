"""Makes ELF files that were linked against a new C library load on an older one.

A reference to a symbol of a version of glibc that came after the oldest one becomes a reference without a version. The
loader then takes the oldest version that the machine has, whose interface is the same for every function here. The
functions that an old C library lacks are in old_glibc.cpp. The format: gABI, "Symbol Versioning" of the LSB.

Usage: retarget.py OLDEST FILE...     (OLDEST: 2.28)
It prints FILE for each file that refers to a function of old_glibc.cpp."""

from __future__ import annotations

import pathlib
import re
import struct
import sys
from typing import Dict, Iterator, List, Tuple

# What old_glibc.cpp defines. Anything else that an old C library lacks is refused by name.
CARRIED = {
    "__libc_single_threaded", "stat", "lstat", "fstat", "stat64", "lstat64", "fstat64", "arc4random",
    "pthread_cond_clockwait", "_dl_find_object", "__libc_start_main",
}
# What older versions of glibc have, too, with the same interface.
OLDER = {
    "exp", "exp2", "log", "log2", "pow", "hypot", "hypotf", "dladdr", "dlclose", "dlerror", "dlopen", "dlsym", "dlvsym",
    "__pthread_key_create", "pthread_attr_getstacksize", "pthread_attr_setaffinity_np", "pthread_attr_setstacksize",
    "pthread_condattr_setclock", "pthread_create", "pthread_detach", "pthread_getaffinity_np", "pthread_getcpuclockid",
    "pthread_getspecific", "pthread_join", "pthread_key_create", "pthread_key_delete", "pthread_mutexattr_destroy",
    "pthread_mutexattr_init", "pthread_mutexattr_settype", "pthread_mutex_trylock", "pthread_once",
    "pthread_rwlock_destroy", "pthread_rwlock_init", "pthread_rwlock_rdlock", "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock", "pthread_rwlock_wrlock", "pthread_setaffinity_np", "pthread_setspecific",
    "pthread_sigmask",
}
_BASE = b"GLIBC_2.2.5"  # every library of glibc for x86-64 has it
_VERSYM, _VERNEED, _DYNSYM = 0x6FFFFFFF, 0x6FFFFFFE, 11
_ANY_VERSION = 1


class Unknown(Exception):
    """A file that cannot be made to load on an older C library."""


def elf_hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


class Elf:
    """The dynamic symbols of an x86-64 file and the versions that they need."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.bytes = bytearray(path.read_bytes())
        if self.bytes[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", self.bytes, 18)[0] != 62:
            raise Unknown(f"{path}: not an ELF file for x86-64")
        offset, size, count = *struct.unpack_from("<Q", self.bytes, 40), *struct.unpack_from("<HH", self.bytes, 58)
        self._sections: Dict[int, Tuple[int, int, int]] = {}
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, offset + i * size) for i in range(count)]
        for header in headers:
            self._sections.setdefault(header[1], (header[4], header[5], header[6]))
        self._strings = {kind: headers[link][4] for kind, (_, _, link) in self._sections.items()
                         if kind in (_DYNSYM, _VERNEED)}

    def _text(self, at: int) -> bytes:
        return bytes(self.bytes[at:self.bytes.index(0, at)])

    def needs(self) -> Iterator[Tuple[int, int, bytes]]:
        """Each version that is needed: where it is written, its number in this file, its name."""
        if _VERNEED not in self._sections:
            return
        at = self._sections[_VERNEED][0]
        while True:
            first, following = struct.unpack_from("<II", self.bytes, at + 8)
            entry = at + first
            while True:
                _, _, number, name, further = struct.unpack_from("<IHHII", self.bytes, entry)
                yield entry, number, self._text(self._strings[_VERNEED] + name)
                if further == 0:
                    break
                entry += further
            if following == 0:
                return
            at += following

    def symbols(self) -> Iterator[Tuple[str, int, int]]:
        """Each dynamic symbol: its name, where its version's number is written, the number."""
        if _VERSYM not in self._sections:
            return
        versions = self._sections[_VERSYM][0]
        at, size, _ = self._sections[_DYNSYM]
        for i in range(1, size // 24):
            name = struct.unpack_from("<I", self.bytes, at + 24 * i)[0]
            number = struct.unpack_from("<H", self.bytes, versions + 2 * i)[0]
            yield self._text(self._strings[_DYNSYM] + name).decode(), versions + 2 * i, number & 0x7FFF

    def base_name(self) -> int:
        """Where the names of this file have that of the oldest version."""
        start = self._strings[_VERNEED]
        at = self.bytes.find(b"\0" + _BASE + b"\0", start)
        if at < 0:
            raise Unknown(f"{self.path}: it needs no {_BASE.decode()}")
        return at + 1 - start


def is_newer(version: bytes, oldest: Tuple[int, int]) -> bool:
    found = re.fullmatch(rb"GLIBC_(\d+)\.(\d+)(\.\d+)?", version)
    return found is not None and (int(found[1]), int(found[2])) > oldest


def newest(path: pathlib.Path) -> Tuple[int, int]:
    """The newest version of glibc that a file needs; (0, 0) if it needs none."""
    versions = [re.fullmatch(rb"GLIBC_(\d+)\.(\d+)(\.\d+)?", name) for _, _, name in Elf(path).needs()]
    return max([(int(found[1]), int(found[2])) for found in versions if found], default=(0, 0))


def retarget(path: pathlib.Path, oldest: Tuple[int, int]) -> List[str]:
    """Rewrites the file, and returns the functions of old_glibc.cpp that it refers to."""
    elf = Elf(path)
    too_new = {number: (entry, name) for entry, number, name in elf.needs() if is_newer(name, oldest)}
    carried = []
    # Not undefined ones alone: a program has its copy of a variable of the C library under that version.
    for name, at, number in elf.symbols():
        if number not in too_new:
            continue
        if name in CARRIED:
            carried.append(name)
        elif name not in OLDER:
            raise Unknown(f"{path}: {name} needs {too_new[number][1].decode()}; define it in old_glibc.cpp, or add it to "
                          f"OLDER if glibc {oldest[0]}.{oldest[1]} has it")
        struct.pack_into("<H", elf.bytes, at, _ANY_VERSION)
    for entry, _ in too_new.values():
        _, flags, number, _, further = struct.unpack_from("<IHHII", elf.bytes, entry)
        struct.pack_into("<IHHII", elf.bytes, entry, elf_hash(_BASE), flags, number, elf.base_name(), further)
    path.write_bytes(elf.bytes)
    return carried


def main(words: List[str]) -> int:
    if len(words) < 2 or not re.fullmatch(r"\d+\.\d+", words[0]):
        print(__doc__, file=sys.stderr)
        return 2
    major, minor = words[0].split(".")
    for word in words[1:]:
        try:
            if retarget(pathlib.Path(word), (int(major), int(minor))):
                print(word)
        except Unknown as trouble:
            print(trouble, file=sys.stderr)
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
