"""Worker processes of an evaluation."""

import signal

import pytest
from joblib import delayed

from eval.measures.processes import parallel


def test_one_job_is_this_process():
    assert (
        parallel(1)(delayed(signal.getsignal)(signal.SIGINT) for _ in "ab")
        == [signal.getsignal(signal.SIGINT)] * 2
    )


@pytest.mark.slow
def test_workers_leave_ctrl_c_to_their_parent():
    handlers = parallel(2, timeout=120)(delayed(signal.getsignal)(signal.SIGINT) for _ in range(4))
    assert set(handlers) == {signal.SIG_IGN}
