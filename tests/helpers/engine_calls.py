"""Functions to call for the tests of the engine, importable in worker processes."""

import os
import signal
import time


def square(number, deadly=(), seconds=0.0):
    """The square; kills its own process for some numbers, as the kernel does when memory runs out."""
    time.sleep(seconds)
    if number in deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def kill_once(number, flag):
    """Kills its worker the first time only."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return number
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def fail(number):
    raise ValueError(f"number {number}")


def setting(name):
    return os.environ.get(name)


_KEPT: list[bytes] = []


def grow(number, megabytes, seconds):
    """Keeps more memory with each call, as a worker does that loads models."""
    _KEPT.append(b"x" * (megabytes * 1_000_000))
    time.sleep(seconds)
    return number
