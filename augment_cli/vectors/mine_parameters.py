"""What mined stages depend on, the names of the stages, their columns."""

from dataclasses import asdict

import pyarrow as pa

from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.neural.loading import find_model
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import stage_names
from augment_cli.vectors.lexical import sparse_library
from augment_cli.vectors.search import graph_library
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage
from augment_cli.vectors.texts import given_positives

VERSION = 2
MINED_STAGE = "mined"
MINED = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("other_row_id", pa.int64()),
        pa.field("score", pa.float32()),
        pa.field("rank", pa.int32()),
        pa.field("positive_score", pa.float32()),
    ]
)


def mined_names(parameters: MineParameters, stage: str | None = None) -> list[str]:
    """Folders of the results, one for each negative; `stage` is the first one's."""
    base = stage or f"{MINED_STAGE}-{parameters.by}"
    return [f"{base}.{number}" if number else base for number in range(parameters.negatives)]


def known_positives(store: Store, parameters: MineParameters) -> list[str]:
    """The stages whose texts are nobody's negatives where the sentence is equal: the named one, the given."""
    named = [parameters.positive] if parameters.positive else []
    return list(dict.fromkeys([*named, *given_positives(store)]))


def mine_settings(
    store: Store, parameters: MineParameters, fit: str | None, vectors: str | None, number: int
) -> Settings:
    """What a mined stage depends on; `number` is 0 for the first negative, 1 for the second, …"""
    stages = [CORPUS_STAGE, *([parameters.positive] if parameters.positive else [])]
    if parameters.by == "vectors":
        opened = [VectorStage.open(store, stage, vectors) for stage in stages]
        if parameters.query_vectors:
            opened.append(VectorStage.open(store, CORPUS_STAGE, parameters.query_vectors))
        for other in opened[1:]:
            opened[0].check_comparable(other)
        read, libraries = [one.stage for one in opened], ["numpy", "pyarrow"]
        if parameters.search == "graph":
            graph_library()
            libraries.append("usearch")
    else:
        sparse_library()
        read, libraries = list(stage_names(fit)), ["numpy", "pyarrow", "scipy"]
    values = asdict(parameters)
    if parameters.by == "vectors":
        del values["max_df"]
    resources = {}
    if values.pop("rescore"):
        resources["rescore"] = find_model(parameters.rescore, option="--rescore").digest
        libraries += ["torch", "transformers", "tokenizers"]
    if parameters.search == "exact":  # as in stages that were mined before there was another way
        del values["search"]
    if not parameters.query_vectors:  # likewise
        del values["query_vectors"]
    values |= {"positive": parameters.positive or None, "number": number}
    del values["seed"]
    if known := known_positives(store, parameters):
        values["known"] = known
    return Settings(
        MINED_STAGE,
        VERSION,
        parameters=values,
        # A seed of 0 has always been kept, whatever the sampling.
        seed=parameters.seed if parameters.sampling == "random" or not parameters.seed else None,
        inputs={stage: store.stage(stage).digest for stage in (*stages, *known, *read)},
        resources=resources,
        libraries=library_versions(libraries),
    )
