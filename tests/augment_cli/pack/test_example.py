"""The lines that train on a packed table, and filters by cosine."""

import threading

import numpy as np

from augment_cli.pack.export import _operations_a_second


def test_the_rate_of_this_machine_does_not_fall_with_what_else_runs_here():
    alone, over = _operations_a_second(), threading.Event()
    matrix = np.ones((512, 512), np.float32)

    def work():
        while not over.is_set():
            matrix @ matrix

    others = [threading.Thread(target=work) for _ in range(8)]
    for other in others:
        other.start()
    try:
        disturbed = _operations_a_second()
    finally:
        over.set()
        for other in others:
            other.join()
    assert disturbed > alone / 3
