"""Texts that datatrove filtered, augmented.

python datatrove_pipeline.py documents/ filtered/ store
"""

import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.filters import LambdaFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

import augment_cli


def augmented(documents: str, filtered: str, store: str) -> augment_cli.Store:
    """The store, with hard negatives of the documents that pass."""
    steps = [
        JsonlReader(documents, text_key="text"),
        LambdaFilter(lambda document: 20 <= len(document.text) <= 500),
        JsonlWriter(filtered, output_filename="${rank}.jsonl.gz"),
    ]
    LocalPipelineExecutor(pipeline=steps, logging_dir=f"{filtered}/logs", tasks=1).run()
    augment_cli.ingest_corpus(f"{filtered}/*.jsonl.gz", store, text_column="text")
    return augment_cli.run("una", store)


if __name__ == "__main__":
    print(augmented(*sys.argv[1:4]).frame("una"))
