"""Libraries that sleep when they are done, and memory that is kept: seen from fresh processes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

WAITS = """
import time
from rag_app import Corpus
import numpy

a = numpy.ones((700, 700), numpy.float32)
a @ a
start = time.process_time()
time.sleep(0.05)
print(time.process_time() - start)
"""
HOLDS = """
import resource
from indexing.models.runtime import keep_memory

def held():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

keep_memory()
before = held()
blocks = [bytearray(10 << 20) for _ in range(10)]
for block in blocks:
    block[::4096] = block[::4096]
del blocks, block
print((held() - before) / (100 << 20))
"""

ARENAS = """
import ctypes, tempfile, threading
from indexing.models.runtime import share_memory

{0}
barrier = threading.Barrier(6)

def work():
    barrier.wait()
    blocks = [bytearray(50_000) for _ in range(100)]
    barrier.wait()

threads = [threading.Thread(target=work) for _ in range(6)]
for each in threads:
    each.start()
for each in threads:
    each.join()
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    told = ctypes.c_void_p(library.fopen(file.name.encode(), b"w"))
    library.malloc_info(0, told)
    library.fclose(told)
    print(file.read().count(b"<heap "))
"""


def printed(code: str, **environment: str) -> float:
    """What a fresh process prints, without the settings of this one."""
    ours = ("OPENBLAS_", "MALLOC_", "GLIBC_TUNABLES", "OMP_NUM_THREADS")
    others = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**others, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def test_threads_of_numpy_do_not_wait_busily() -> None:
    assert min(printed(WAITS) for _ in range(2)) < 0.02


glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc is another one")


@glibc
def test_freed_memory_is_kept() -> None:
    assert printed(HOLDS) > 0.9


@glibc
def test_threads_share_two_arenas() -> None:
    assert printed(ARENAS.format("")) > 2
    assert printed(ARENAS.format("share_memory()")) == 2
    assert printed(ARENAS.format("share_memory()"), MALLOC_ARENA_MAX="4") == 4


KERNELS = """
import os
from indexing.models.runtime import keep_few_kernels
keep_few_kernels()
print(os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"])
"""


def test_few_kernels_are_kept() -> None:
    assert printed(KERNELS) == 32
    assert printed(KERNELS, ONEDNN_PRIMITIVE_CACHE_CAPACITY="7") == 7


SAYS = "import os, {0}; print(os.environ.get('OPENBLAS_THREAD_TIMEOUT', -1))"


def test_a_library_that_is_imported_changes_no_environment() -> None:
    assert printed(SAYS.format("rag_app, indexing, retriever, generator")) == -1
    assert printed(SAYS.format("rag_app; from rag_app import Hit")) == 16
    assert printed(SAYS.format("rag_app; rag_app.Hit"), OPENBLAS_THREAD_TIMEOUT="20") == 20


@glibc
def test_what_the_environment_says_of_memory_stays() -> None:
    assert printed(HOLDS, MALLOC_TRIM_THRESHOLD_="1048576") < 0.2


TWO_THREADS = """
import threading, time
from indexing.encoder.mean_model import TokenStates
from indexing.models.files import encoder_weights

folder, failures = encoder_weights().folder, []

def load(after):
    time.sleep(after)
    try:
        TokenStates(folder)
    except Exception as error:
        failures.append(error)

threads = [threading.Thread(target=load, args=(after,)) for after in (0, 0.05, 0.15, 0.3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
"""


def test_threads_may_load_models_while_transformers_is_imported() -> None:
    subprocess.run([sys.executable, "-c", TWO_THREADS], check=True, capture_output=True)
