"""Recipes for clusters and containers: each is read by the language that it is written in, and what it does is done
against stand-ins for the tools that this machine lacks."""

import ctypes
import ctypes.util
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "scripts" / "recipes"
VERSION = re.search(r"project\(wirewatt VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def bundle(folder: pathlib.Path) -> pathlib.Path:
    """What scripts/bundle makes, with a program that prints its arguments."""
    for name in ("bin", "lib", "libc", "libexec/wirewatt"):
        (folder / name).mkdir(parents=True)
    start = folder / "wirewatt"
    start.write_text('#!/bin/sh\necho "bundled $*"\n')
    start.chmod(0o755)
    shutil.copy(start, folder / "bin" / "wirewatt")
    (folder / "lib" / "libwirewatt_vgpu.so").touch()
    return folder


class OfAFolder(unittest.TestCase):
    def setUp(self) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self._scratch.cleanup)
        self.folder = pathlib.Path(self._scratch.name)


class Prefix(str):
    """A folder whose attributes are folders in it, as Spack has them."""

    def __getattr__(self, name: str) -> "Prefix":
        return Prefix(os.path.join(self, name))


class Spack(OfAFolder):
    def setUp(self) -> None:
        super().setUp()
        self.versions = []
        self.after_install = []

        def run_after(phase):
            self.assertEqual(phase, "install")
            return lambda method: self.after_install.append(method) or method

        names = {
            "Package": type("Package", (), {}),
            "license": lambda name: self.assertEqual(name, "Apache-2.0"),
            "version": self.versions.append,
            "requires": lambda condition, msg: None,
            "run_after": run_after,
            "join_path": os.path.join,
            "mkdirp": lambda path: os.makedirs(path, exist_ok=True),
            "set_executable": lambda path: os.chmod(path, 0o755),
            "install_tree": lambda source, target: shutil.copytree(source, target, symlinks=True),
            "Executable": lambda path: lambda *words: subprocess.run([path, *words], check=True, capture_output=True),
        }
        module = types.ModuleType("spack.package")
        module.__dict__.update(names)
        text = (RECIPES / "spack" / "package.py").read_text()
        self.assertIn("from spack.package import *", text)
        namespace = dict(names)
        exec(compile(text.replace("from spack.package import *", ""), "package.py", "exec"), namespace)
        self.recipe = namespace["Wirewatt"]

    def test_has_the_version_of_the_project(self) -> None:
        self.assertEqual(self.versions, [VERSION])

    def test_installs_a_program_that_starts(self) -> None:
        stage, prefix = bundle(self.folder / "stage"), Prefix(self.folder / "prefix")
        package = self.recipe()
        package.prefix = prefix
        before = os.getcwd()
        os.chdir(stage)
        try:
            package.install(None, prefix)
        finally:
            os.chdir(before)
        shutil.rmtree(stage)
        self.assertEqual(len(self.after_install), 1)
        self.after_install[0](package)
        started = subprocess.run([prefix.bin + "/wirewatt", "devices"], capture_output=True, text=True, check=True)
        self.assertEqual(started.stdout, "bundled devices\n")

    def test_takes_the_bundle_from_the_folder_in_which_spack_is_started(self) -> None:
        # Spack replaces the version in it; without such an attribute it has nothing to fetch with.
        self.assertEqual(self.recipe.url, f"file://{os.getcwd()}/wirewatt-{VERSION}-x86_64.tar.gz")


class EasyBuild(OfAFolder):
    def setUp(self) -> None:
        super().setUp()
        (self.file,) = (RECIPES / "easybuild").glob("*.eb")
        self.parameters = {"SYSTEM": {"name": "system", "version": "system"}}
        exec(compile(self.file.read_text(), self.file.name, "exec"), self.parameters)

    def test_has_what_easybuild_demands_and_the_name_of_its_contents(self) -> None:
        for mandatory in ("name", "version", "homepage", "description", "toolchain"):
            self.assertTrue(self.parameters[mandatory], mandatory)
        self.assertEqual(self.parameters["version"], VERSION)
        self.assertEqual(self.file.name, f"{self.parameters['name']}-{self.parameters['version']}.eb")

    def test_its_check_finds_a_bundle_whole_and_misses_what_lacks(self) -> None:
        installed = bundle(self.folder / "installed")
        paths = self.parameters["sanity_check_paths"]
        self.assertEqual(set(paths), {"files", "dirs"})
        for name in paths["files"]:
            self.assertTrue((installed / name).is_file(), name)
        for name in paths["dirs"]:
            self.assertTrue((installed / name).is_dir(), name)
        bundled = (ROOT / "scripts" / "bundle").read_text()
        for name in paths["files"]:
            self.assertIn(pathlib.PurePath(name).name, bundled)


LMOD = """
said = {}
function help(text) said.help = text end
function whatis(text) said[#said + 1] = text end
function conflict(name) said.conflict = name end
function mode() return "load" end
function isFile(path) return path == present end
function pathJoin(...) return table.concat({...}, "/") end
function myFileName() return "0.2.0.lua" end
function LmodError(text) error(text) end
function prepend_path(name, value) said[name] = value end
"""


class Lmod(unittest.TestCase):
    FILE = RECIPES / "lmod" / f"{VERSION}.lua"

    def run_file(self, present: str, answer: str) -> str:
        """Runs the module file as Lua with stand-ins for Lmod's functions, and gives `answer`, an expression."""
        library = ctypes.util.find_library("lua5.1")
        if library is None:
            self.skipTest("liblua5.1 is not installed")
        lua = ctypes.CDLL(library)
        lua.luaL_newstate.restype = ctypes.c_void_p
        lua.lua_tolstring.restype = ctypes.c_char_p
        state = ctypes.c_void_p(lua.luaL_newstate())
        try:
            lua.luaL_openlibs(state)
            text = f"{LMOD}present = [[{present}]]\n{self.FILE.read_text()}\nreturn tostring({answer})"
            failed = lua.luaL_loadstring(state, text.encode()) or lua.lua_pcall(state, 0, 1, 0)
            told = lua.lua_tolstring(state, -1, None).decode()
            if failed:
                raise RuntimeError(told)
            return told
        finally:
            lua.lua_close(state)

    def test_puts_the_start_script_on_the_path(self) -> None:
        root = f"/opt/wirewatt/{VERSION}"
        self.assertEqual(self.run_file(root + "/wirewatt", "said.PATH"), root)
        self.assertEqual(self.run_file(root + "/wirewatt", "said.conflict"), "wirewatt")
        self.assertIn(VERSION, self.run_file(root + "/wirewatt", "said[2]"))

    def test_says_where_nothing_is_installed(self) -> None:
        with self.assertRaisesRegex(RuntimeError, f"no wirewatt in /opt/wirewatt/{re.escape(VERSION)}: set root"):
            self.run_file("/elsewhere", "said.PATH")

    def test_luac_takes_it(self) -> None:
        compiler = shutil.which("luac") or shutil.which("luac5.4")
        if compiler is None:
            self.skipTest("luac is not installed")
        subprocess.run([compiler, "-p", self.FILE], check=True)


class LmodItself(OfAFolder):
    """The module file in Lmod, where it is installed."""

    def test_loads_and_unloads_the_start_script(self) -> None:
        init = next((file for file in (pathlib.Path("/usr/share/lmod/lmod/init/bash"), pathlib.Path(
            os.environ.get("LMOD_PKG", "/opt/apps/lmod/lmod")) / "init/bash") if file.exists()), None)
        if init is None:
            self.skipTest("Lmod is not installed")
        modules = self.folder / "modules" / "wirewatt"
        modules.mkdir(parents=True)
        shutil.copy(Lmod.FILE, modules)
        root = bundle(self.folder / "root")
        script = f""". {init}
            module load wirewatt/{VERSION} && wirewatt devices
            module unload wirewatt && ! command -v wirewatt
            WIREWATT_ROOT=/elsewhere module load wirewatt 2>&1"""
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "WIREWATT_ROOT": str(root),
                       "MODULEPATH": str(modules.parent)}
        done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
        self.assertTrue(done.stdout.startswith("bundled devices\n"), done.stdout + done.stderr)
        self.assertNotIn(str(root), done.stdout)
        self.assertIn("there is no wirewatt in /elsewhere: set root", " ".join(done.stdout.split()))
        self.assertNotEqual(done.returncode, 0)


class Conda(unittest.TestCase):
    def test_is_a_recipe_of_this_version(self) -> None:
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        recipe = yaml.safe_load((RECIPES / "conda" / "meta.yaml").read_text())
        self.assertEqual(recipe["package"], {"name": "wirewatt", "version": VERSION})
        self.assertEqual(recipe["source"]["path"], f"wirewatt-{VERSION}-x86_64.tar.gz")
        self.assertEqual(recipe["about"]["license"], "Apache-2.0")
        known = {"package", "source", "build", "requirements", "test", "about"}
        self.assertEqual(set(recipe), known)


class CondaBuild(OfAFolder):
    def test_its_script_installs_a_program_that_starts(self) -> None:
        stage, prefix = bundle(self.folder / "stage"), self.folder / "prefix"
        script = RECIPES / "conda" / "build.sh"
        subprocess.run(["bash", "-e", script], check=True, cwd=stage, env={**os.environ, "PREFIX": str(prefix)})
        shutil.rmtree(stage)
        started = subprocess.run([prefix / "bin" / "wirewatt", "devices"], capture_output=True, text=True, check=True)
        self.assertEqual(started.stdout, "bundled devices\n")


class Containers(unittest.TestCase):
    def instructions(self) -> "list[tuple[str, str]]":
        text = (RECIPES / "oci" / "Containerfile").read_text().replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        return [tuple(line.split(None, 1)) for line in lines]

    def check_shell(self, text: str) -> None:
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)
        for script in re.findall(r"scripts/[a-z_]+", text):
            self.assertTrue(os.access(ROOT / script, os.X_OK), script)

    def test_oci_has_known_instructions_and_runs_scripts_that_exist(self) -> None:
        stages = set()
        for name, words in self.instructions():
            self.assertIn(name, {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "LABEL", "USER", "ENTRYPOINT"})
            if name == "RUN":
                self.check_shell(words)
            if name == "FROM" and " AS " in words:
                stages.add(words.split(" AS ")[1])
            if name == "COPY" and (source := re.match(r"--from=(\S+)", words)):
                self.assertIn(source.group(1), stages)
        self.assertEqual(stages, {"build"})

    def test_apptainer_has_known_sections_and_runs_scripts_that_exist(self) -> None:
        text = (RECIPES / "apptainer" / "wirewatt.def").read_text()
        known = {"files", "post", "environment", "runscript", "test", "labels"}
        sections = re.split(r"^%(\w+)[^\n]*\n", text, flags=re.MULTILINE)
        for name, body in zip(sections[1::2], sections[2::2]):
            self.assertIn(name, known)
            if name in ("post", "environment", "runscript", "test"):
                self.check_shell(body.split("\nBootstrap:")[0])
        self.assertEqual(re.findall(r"^Stage: (\w+)", text, re.MULTILINE), ["build", "final"])

    def test_both_are_of_the_distribution_that_the_packages_are_for(self) -> None:
        images = re.findall(r"debian:(\S+)", (RECIPES / "oci" / "Containerfile").read_text())
        images += re.findall(r"debian:(\S+)", (RECIPES / "apptainer" / "wirewatt.def").read_text())
        self.assertEqual(set(images), {"bookworm-slim"})
        self.assertIn("bookworm", (ROOT / "scripts" / "packages.txt").read_text())


class Slurm(unittest.TestCase):
    SCRIPTS = [RECIPES / "slurm" / name for name in ("prolog", "epilog")]

    def test_bash_takes_the_scripts(self) -> None:
        for script in self.SCRIPTS:
            subprocess.run(["bash", "-n", script], check=True)
            self.assertTrue(os.access(script, os.X_OK))

    def test_shellcheck_finds_nothing(self) -> None:
        if shutil.which("shellcheck") is None:
            self.skipTest("shellcheck is not installed")
        found = subprocess.run(["shellcheck", "-x", *self.SCRIPTS], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stdout)

    def test_outside_a_measured_job_they_do_nothing_and_do_not_fail(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(self.SCRIPTS[1], folder)
            pathlib.Path(folder, "wirewatt.conf").write_text(f"devices=gpu:0\nstate={folder}/state\ntextfiles={folder}\n")
            subprocess.run([f"{folder}/epilog"], check=True, env={"SLURM_JOB_ID": "7"})
            self.assertEqual(sorted(os.listdir(folder)), ["epilog", "wirewatt.conf"])


if __name__ == "__main__":
    unittest.main()
