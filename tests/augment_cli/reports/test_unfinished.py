"""Rows that an interrupted or a running stage has made and not yet joined to a part."""

import shutil
import threading

from augment_cli.reports.unfinished import rows_in_work


def test_folders_that_come_and_go_do_no_harm(store):
    """As while the stage runs whose work is counted."""
    folder = store.work / "parses"
    stopped = threading.Event()

    def disturb():
        while not stopped.is_set():
            for number in range(20):
                (folder / f"part-{number:05d}" / "inner").mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)

    other = threading.Thread(target=disturb)
    other.start()
    try:
        assert all(rows_in_work(store) == {} for _ in range(60))
    finally:
        stopped.set()
        other.join()
