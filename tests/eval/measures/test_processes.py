"""Worker processes of an evaluation."""

import signal
import warnings

import pytest
from joblib import delayed

from eval.measures.processes import parallel


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 1000), (2, 1)])
def test_one_job_or_a_little_work_is_done_in_this_process(jobs, seconds):
    assert (
        parallel(jobs, seconds)(delayed(signal.getsignal)(signal.SIGINT) for _ in "ab")
        == [signal.getsignal(signal.SIGINT)] * 2
    )


@pytest.mark.slow
def test_workers_leave_ctrl_c_to_their_parent():
    handlers = parallel(2, 1000, timeout=120)(delayed(signal.getsignal)(signal.SIGINT) for _ in range(4))
    assert set(handlers) == {signal.SIG_IGN}


def test_a_worker_that_has_grown_is_replaced_without_a_warning():
    """As loky warns in a thread of its own, an error there would leave the results waiting for ever."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel(2, 1000)
        warnings.warn(  # loky's words
            "A worker stopped while some jobs were given to the executor. This can be caused by a too short "
            "worker timeout or by a memory leak.",
            stacklevel=1,
        )
