"""The list of public HIP programs (studies/hip/programs.toml), and how one of them is compiled."""
import os
import tomllib

import harness

LIST = harness.ROOT / "tests/validation/studies/hip/programs.toml"
ARCHITECTURES = {"virtual:mi210": "gfx90a", "virtual:mi300x": "gfx942", "virtual:rx6800": "gfx1030",
                 "virtual:rx7900": "gfx1100"}


def listed(file=LIST):
    """The programs of the list, each with what its collection says of all."""
    found = tomllib.loads(file.read_text())
    return [{"flags": "-std=c++17", **found["collections"][program["in"]], **program} for program in found["programs"]]


def name_of(program):
    return "/".join(filter(None, (program["in"], program["path"], program.get("name"))))


def compile_program(program, folder, binary, device, build=harness.BUILD):
    """Whether that went well, and what the compiler said."""
    flags = program["flags"].replace("{stem}", os.path.basename(program["path"]).removesuffix("-hip"))
    command = [harness.ROOT / "scripts/hipcc_here", "-O3", "-w", "--offload-arch=" + ARCHITECTURES[device],
               *flags.split()]
    runs = [[*program.get("sources", "main.cu").split(), "-lm", "-o", binary]]
    if module := program.get("code_object"):
        name = os.path.splitext(os.path.basename(module))[0] + ".co"
        runs.append(["--genco", module, "-o", os.path.join(os.path.dirname(binary), name)])
    said = ""
    for arguments_of_run in runs:
        done = harness.run(command + arguments_of_run, folder=folder, WIREWATT_BUILD=build)
        said += done.err
        if done.code != 0:
            return False, said
    return True, said
