"""1,000 brackets on one session, and two sessions in two threads at once, around equal work: equal joules, and no
memory that grows. Run on the virtual GPU: wirewatt run --device virtual:w9100 -- python3 many_brackets.py MODEL"""

import resource
import sys
import threading
from typing import Callable

import numpy
import pyopencl

import wirewatt

SOURCE = "kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }"
context = pyopencl.Context([pyopencl.get_platforms()[0].get_devices()[0]])
program = pyopencl.Program(context, SOURCE).build()


class Worker:
    """A queue and a kernel of its own: OpenCL's kernel objects are not for two threads."""

    def __init__(self) -> None:
        self.queue = pyopencl.CommandQueue(context)
        self.kernel = program.twice
        self.buffer = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, 4096)

    def work(self) -> None:
        self.kernel(self.queue, (1024,), None, self.buffer)
        self.queue.finish()


joules = []
worker = Worker()
with wirewatt.Session("virtual", sys.argv[1]) as session:
    for number in range(1000):
        if number == 100:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with wirewatt.bracket(session=session) as stretch:
            worker.work()
        assert stretch.dispatches == 1, stretch.dispatches
        joules.append(stretch.segments["l1_l2"].value)
grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
# The chip keeps its sensor's samples, 60 of 48 bytes for each bracket (2.5 MiB), and the heap grows by pages of 2 MiB. A
# bracket's counters and readings alone would be 10 MiB.
assert grown_kib < 8192, f"{grown_kib} KiB more after 900 brackets"
assert numpy.ptp(joules[100:]) < 0.01 * numpy.mean(joules[100:]), "equal work differs in joules"

# A stretch is the device's: it has what every thread launched in it. Of two threads with a session each, both launch
# in one stretch; then one's stretch lies around the other's; then both run freely.
ROUNDS = 20
together = threading.Barrier(2, timeout=60)
failures = []
both, around, within, free = [], [], [], []


def stretch_of(session: wirewatt.Session, work: Callable[[], None], into: "list[wirewatt.Bracket]") -> None:
    with wirewatt.bracket(session=session) as stretch:
        work()
    into.append(stretch)


def in_a_thread(number: int) -> None:
    def work_together() -> None:
        together.wait()
        own.work()
        together.wait()

    try:
        own = Worker()
        with wirewatt.Session("virtual", sys.argv[1]) as session:
            for turn in range(ROUNDS):
                together.wait()
                stretch_of(session, work_together, both)
                together.wait()
                if turn % 2 == number:
                    stretch_of(session, work_together, around)
                else:
                    together.wait()
                    stretch_of(session, own.work, within)
                    together.wait()
            together.wait()
            for _ in range(ROUNDS):
                stretch_of(session, own.work, free)
    except BaseException as error:  # a thread's exceptions are not the program's
        failures.append(error)
        together.abort()


threads = [threading.Thread(target=in_a_thread, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
one = numpy.mean(joules[100:])
for stretches, count in ((both, 2 * ROUNDS), (around, ROUNDS)):
    assert len(stretches) == count
    assert all(stretch.dispatches == 2 for stretch in stretches), [stretch.dispatches for stretch in stretches]
    values = [stretch.segments["l1_l2"].value for stretch in stretches]
    assert numpy.allclose(values, 2 * one, rtol=0.01), "two launches are not twice one"
assert len(free) == 2 * ROUNDS and min(stretch.dispatches for stretch in free + within) >= 1, "missed its own launch"
print(f"1000 brackets, {grown_kib} KiB more; two threads: {len(both)} brackets of both threads' launches, "
      f"{len(around)} around a bracket of the other, {len(free)} free")
