"""What scripts/wheel does to libraries, so that they load on an older C library."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WHEEL = pathlib.Path(__file__).resolve().parents[1] / "wheel"
sys.path.insert(0, str(WHEEL))

import retarget  # noqa: E402

OLDEST = (2, 28)
LIBRARY = r"""
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
static void* set(void* number) { *(int*)number = 7; return 0; }
int of_thread(void) {
  pthread_t thread;
  int number = 0;
  if (pthread_create(&thread, 0, set, &number) == 0) pthread_join(thread, 0);
  return number;
}
long size_of(const char* file) { struct stat status; return stat(file, &status) == 0 ? (long)status.st_size : -1; }
double power(double base, double exponent) { return pow(base, exponent); }
"""
PROGRAM = r"""
#include <cstdio>
#include <stdexcept>
struct Early { int number; Early() : number(41) {} };
Early early;
int main(int argc, char**) {
  try { if (argc > 0) throw std::runtime_error("thrown"); }
  catch (const std::exception& error) { std::printf("%d %s\n", early.number + argc, error.what()); }
}
"""


class Command(unittest.TestCase):
    """The command `wirewatt` that pip makes of an installed wheel."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.site = pathlib.Path(scratch.name)
        shutil.copytree(WHEEL.parent / "src/wirewatt_program", self.site / "wirewatt_program")
        self.script = self.site / "bin/wirewatt"
        self.write(self.script, f"#!{sys.executable}\nimport sys\nfrom wirewatt_program import main\nsys.exit(main())\n")

    def write(self, file: pathlib.Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def start(self, path: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([self.script, "selftest", "-o", "a file"], env={"PATH": path, "PYTHONPATH": str(self.site)},
                              text=True, capture_output=True)

    def test_is_the_program_that_the_wheel_carries(self) -> None:
        self.write(self.site / "wirewatt/_native/bin/wirewatt", "#!/bin/sh\necho \"carried: $#, $3\"; exit 7\n")
        done = self.start("/usr/bin:/bin")
        self.assertEqual((done.returncode, done.stdout), (7, "carried: 3, a file\n"), done.stderr)

    def test_without_one_is_the_next_program_on_the_path_and_never_itself(self) -> None:
        done = self.start(f"{self.script.parent}:/usr/bin:/bin")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("install a wheel", done.stderr)
        self.write(self.site / "other/wirewatt", "#!/bin/sh\necho other\n")
        done = self.start(f"{self.script.parent}:{self.site / 'other'}:/usr/bin:/bin")
        self.assertEqual((done.returncode, done.stdout), (0, "other\n"), done.stderr)


@unittest.skipIf(shutil.which("c++") is None, "no compiler is installed")
class Retarget(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.carried = self.folder / "libwirewatt-old-glibc.so"
        self.compile(self.carried, (WHEEL / "old_glibc.cpp").read_text(), "cc", "-std=c++20", "-shared", "-fPIC",
                     "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-builtin", "-Wall", "-Wextra", "-Werror",
                     "-Wl,-soname,libwirewatt-old-glibc.so", language="c++")

    def compile(self, out: pathlib.Path, text: str, *command: str, language: str, after: "tuple[str, ...]" = ()) -> None:
        done = subprocess.run([*command, "-o", out, "-x", language, "-", "-x", "none", *after], input=text, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_library_needs_no_newer_version_and_works_as_before(self) -> None:
        library = self.folder / "library.so"
        # As it is linked where nothing of old_glibc.cpp is known.
        self.compile(library, LIBRARY, "cc", "-shared", "-fPIC", language="c", after=("-lm",))
        self.assertGreater(retarget.newest(library), OLDEST)
        self.assertEqual(retarget.retarget(library, OLDEST), ["stat"])
        retarget.retarget(self.carried, OLDEST)
        for file in (library, self.carried):
            self.assertLessEqual(retarget.newest(file), OLDEST)
        ctypes.CDLL(str(self.carried), ctypes.RTLD_GLOBAL)
        loaded = ctypes.CDLL(str(library))
        loaded.size_of.restype = ctypes.c_long
        loaded.power.restype = ctypes.c_double
        loaded.power.argtypes = [ctypes.c_double, ctypes.c_double]
        self.assertEqual(loaded.of_thread(), 7)
        self.assertEqual(loaded.size_of(str(library).encode()), library.stat().st_size)
        self.assertEqual(loaded.size_of(b"/nowhere"), -1)
        self.assertEqual(loaded.power(2.0, 10.0), 1024.0)

    def test_a_program_runs_its_constructors_once_and_catches(self) -> None:
        program = self.folder / "program"
        # Linked with an empty library of that name: the references are to the C library.
        empty = self.folder / "empty.so"
        self.compile(empty, "", "cc", "-shared", "-Wl,-soname,libwirewatt-old-glibc.so", language="c")
        self.compile(program, PROGRAM, "c++", language="c++",
                     after=("-Wl,--no-as-needed", str(empty), "-Wl,-rpath,$ORIGIN"))
        self.assertIn("__libc_start_main", retarget.retarget(program, OLDEST))
        self.assertLessEqual(retarget.newest(program), OLDEST)
        done = subprocess.run([program], capture_output=True, text=True)
        self.assertEqual(done.stdout, "42 thrown\n", done.stderr)

    def test_a_function_that_nobody_carries_is_refused_by_name(self) -> None:
        library = self.folder / "library.so"
        self.compile(library, "void closefrom(int); void go(void) { closefrom(3); }", "cc", "-shared", "-fPIC", language="c")
        before = library.read_bytes()
        with self.assertRaisesRegex(retarget.Unknown, "closefrom needs GLIBC_2.34"):
            retarget.retarget(library, OLDEST)
        self.assertEqual(library.read_bytes(), before)

    def test_what_is_new_enough_stays_as_it_is(self) -> None:
        library = self.folder / "library.so"
        self.compile(library, LIBRARY, "cc", "-shared", "-fPIC", language="c", after=("-lm",))
        before = library.read_bytes()
        self.assertEqual(retarget.retarget(library, (9, 99)), [])
        self.assertEqual(library.read_bytes(), before)

    def test_this_build_needs_nothing_that_an_older_library_lacks(self) -> None:
        program = pathlib.Path(os.environ["WIREWATT_PROGRAM"]).resolve()
        build = program.parents[1]
        for file in (program, build / "libexec/wirewatt/wirewatt-compile-worker", *sorted(build.glob("lib/libwirewatt*.so"))):
            with self.subTest(file.name):
                copy = self.folder / file.name
                shutil.copy(file, copy)
                retarget.retarget(copy, OLDEST)  # raises where a function is neither older nor carried
                self.assertLessEqual(retarget.newest(copy), OLDEST)

    def test_other_files_are_refused(self) -> None:
        text = self.folder / "text"
        text.write_text("not a library")
        with self.assertRaisesRegex(retarget.Unknown, "not an ELF file"):
            retarget.retarget(text, OLDEST)


if __name__ == "__main__":
    unittest.main()
