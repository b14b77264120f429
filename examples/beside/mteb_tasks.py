"""An adapted encoder in mteb.

python mteb_tasks.py runs/adapt-mine/best STSBenchmark Banking77Classification
"""

import sys

import mteb
from mteb.cache import ResultCache
from sentence_transformers import SentenceTransformer


def score(encoder: str, tasks: list[mteb.AbsTask], out: str = "results-mteb") -> dict[str, float]:
    """The main score of each task; mteb fetches a task's data where they are not there."""
    model = SentenceTransformer(encoder, device="cpu")
    found = mteb.evaluate(model, tasks, cache=ResultCache(out), encode_kwargs={"batch_size": 64})
    return {result.task_name: result.get_score() for result in found.task_results}


if __name__ == "__main__":
    for name, value in score(sys.argv[1], mteb.get_tasks(tasks=sys.argv[2:])).items():
        print(f"{name}\t{value:.4f}")
