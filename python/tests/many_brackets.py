"""1,000 brackets on one session, and two sessions in two threads, around equal work: equal joules, and no
memory that grows. Run on the virtual GPU: wirewatt run --device virtual:w9100 -- python3 many_brackets.py MODEL"""

import resource
import sys
import threading

import numpy
import pyopencl

import wirewatt

SOURCE = "kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }"
context = pyopencl.Context([pyopencl.get_platforms()[0].get_devices()[0]])
queue = pyopencl.CommandQueue(context)
kernel = pyopencl.Program(context, SOURCE).build().twice
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, 4096)


def work() -> None:
    kernel(queue, (1024,), None, buffer)
    queue.finish()


joules = []
with wirewatt.Session("virtual", sys.argv[1]) as session:
    for number in range(1000):
        if number == 100:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with wirewatt.bracket(session=session) as stretch:
            work()
        assert stretch.dispatches == 1, stretch.dispatches
        joules.append(stretch.segments["l1_l2"].value)
grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown_kib < 4096, f"{grown_kib} KiB more after 900 brackets"
assert numpy.ptp(joules[100:]) < 0.01 * numpy.mean(joules[100:]), "equal work differs in joules"

failures = []


def in_a_thread() -> None:
    try:
        with wirewatt.Session("virtual", sys.argv[1]) as own:
            for _ in range(50):
                own.begin()
                own.end()
    except BaseException as error:  # a thread's exceptions are not the program's
        failures.append(error)


threads = [threading.Thread(target=in_a_thread) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
print(f"1000 brackets, {grown_kib} KiB more; two threads")
