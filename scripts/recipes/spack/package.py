# Spack recipe: put this folder as packages/wirewatt into a repository of your own
# ("spack repo create").
import os

from spack.package import *


class Wirewatt(Package):
    """Measures what the on-chip wires of GPUs cost, and estimates it in applications."""

    # The bundle is made by hand (scripts/bundle), because trees of HPC packages lack some of the
    # libraries. It is taken from the folder in which Spack is started.
    manual_download = True
    url = f"file://{os.getcwd()}/wirewatt-0.2.0-x86_64.tar.gz"

    license("Apache-2.0")

    version("0.2.0")

    requires("target=x86_64:", msg="the bundle is for x86_64")
    requires("platform=linux", msg="the bundle is for Linux")

    def install(self, spec, prefix):
        # The start script chooses the C library, and finds everything beside itself.
        install_tree(".", prefix.libexec.wirewatt)
        mkdirp(prefix.bin)
        with open(join_path(prefix.bin, "wirewatt"), "w") as start:
            start.write(f'#!/bin/sh\nexec "{prefix.libexec.wirewatt}/wirewatt" "$@"\n')
        set_executable(join_path(prefix.bin, "wirewatt"))

    @run_after("install")
    def check_start(self):
        Executable(join_path(self.prefix.bin, "wirewatt"))("--version")
