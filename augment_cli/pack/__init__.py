"""`pack`: a wide table anchor, positive, negative… that sentence-transformers trains on as it is.

One row for each anchor and each positive stage, all negatives beside it, as
`MultipleNegativesRankingLoss` and its kin expect: first column the anchor, second the positive, every
further one a hard negative. No cell is ever empty: where a stage of negatives left a sentence unchanged,
another of the sentence's own negatives stands in, and a row without any is dropped. A negative that is a
positive of an equal sentence, in any row, is left out.
"""

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.labels import has_row_labels
from augment_cli.contract.draws import stream_key, uniform
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.pack import layouts
from augment_cli.pack.options import CORPUS_STAGE, SIDES, PackOptions
from augment_cli.store.conditions import conditions_by_stage, meets, scores_of
from augment_cli.store.manifest import Part
from augment_cli.store.parquet import ROW_GROUP_ROWS, write_array
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import PendingPart, Store
from augment_cli.vectors.cosines import cosines, vectors_for
from augment_cli.vectors.texts import given_positives

VERSION = 2  # 2: a positive of an equal sentence is nobody's negative
PACK_STAGE = "pack"
_KNOWN = "known.npy"  # in the folder of the stage's work: pairs of sentences and their positives
_LEFT_OUT = "left_out."  # statistics of a part: texts of a stage that --where leaves out
_CONTRADICTORY = "contradictory."  # likewise: negatives that are a positive of an equal sentence
_COUNTED = "filters."  # statistics of a part: rows without filters, and how many each filter costs


def pack_settings(store: Store, options: PackOptions) -> Settings:
    """What the packed stage depends on; what was not chosen is not in it."""
    has_labels = any(has_row_labels(store, name) for name in options.stages)
    repeats = bool(options.negatives) and layouts.has_repeats(store)
    optional = {
        "unchanged_negatives": "fill" if options.fills else None,
        "carry": list(options.carry) or None,
        "split": options.split if options.side else None,
        "side": options.side or None,
        "shuffle": options.shuffle or None,
        **{name: getattr(options, name) for name in options.filters},
        "where": list(options.where) or None,
        "layout": options.layout if options.layout != "n-tuple" else None,
        "scores": options.scores or None,
        "labels": options.labels if has_labels else None,
        "repeated_sentences": repeats or None,
    }
    scores = [scores_of(store, name) for name in conditions_by_stage(options.where)]
    stages = [CORPUS_STAGE, *options.stages, *filter(None, scores)]
    stages += given_positives(store) if options.negatives else []
    for name in options.compared:
        stages += [vectors.stage for vectors in vectors_for(store, name, options.vectors)]
    return Settings(
        PACK_STAGE,
        VERSION,
        parameters={
            "positives": list(options.positives),
            "negatives": list(options.negatives),
            "unchanged": options.unchanged,
            **{key: value for key, value in optional.items() if value is not None},
        },
        seed=options.seed if options.side or options.shuffle else None,
        inputs={name: store.stage(name).digest for name in stages},
        libraries=library_versions(["pyarrow"]),
        # Scores are made anew when the corpus grows, and a sentence that is there may get a further positive.
        by_part=not (options.where or repeats),
    )


def sides_of(options: PackOptions, name: str = PACK_STAGE) -> dict[str, PackOptions]:
    """The stages that options make: `name`, or with a split `name-train` and `name-test`."""
    if not options.split or options.side:
        return {name: options}
    return {f"{name}-{side}": dataclasses.replace(options, side=side) for side in SIDES}


def pack(
    store: Store,
    options: PackOptions,
    name: str = PACK_STAGE,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> list[str]:
    """Make the packed stage, or both sides of a split, in one pass over the columns."""
    # Finished parts are kept. The caller holds the store's lock.
    sides = sides_of(options, name)
    made = {stage: (one, pack_settings(store, one)) for stage, one in sides.items()}
    missing = {stage: store.begin(stage, settings) for stage, (_, settings) in made.items()}
    missing_anywhere = sorted(set().union(*missing.values()))
    has_rows = not options.is_filtered or any(store.stage(stage).rows for stage in sides)
    waiting: list[PendingPart] = []  # parts without a row, committed as soon as there is one with rows

    def commit(pending: list[PendingPart]) -> None:
        nonlocal has_rows
        waiting.extend(pending)
        has_rows = has_rows or any(one.part.rows for one in pending)
        if has_rows:
            for one in waiting:
                store.commit(one)
            waiting.clear()
        # Sentences that were read: a packed part may have fewer rows than those, or several of each.
        progress(store.parts[pending[0].index][1])

    known = store.work / name / _KNOWN
    known.unlink(missing_ok=True)  # of a killed run, maybe of another corpus
    if missing_anywhere and layouts.has_repeats(store) and options.negatives:
        known.parent.mkdir(parents=True, exist_ok=True)
        write_array(known, layouts.known_pairs(store, options))
    calls = [
        {
            "store_path": store.path,
            "stage": name,
            "index": index,
            "sides": {stage: made[stage] for stage in sides if index in missing[stage]},
        }
        for index in missing_anywhere
    ]
    (engine or Engine()).run("augment_cli.pack:pack_part", calls, commit)
    for stage in sides:
        store.clean_work(stage)
    if waiting:
        check_cost(store, options, costs_of_parts(options, [one.part for one in waiting]))
    return list(sides)


def pack_part(
    store_path: Path, stage: str, index: int, sides: Mapping[str, tuple[PackOptions, Settings]]
) -> list[PendingPart]:
    """Pack one part, for all sides of a split (in a worker), and leave it to be committed."""
    # `stage` is the name that was asked for, for the message where a worker dies.
    store = Store.open(store_path)
    path = store.work / stage / _KNOWN
    known = np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None
    columns = _columns_of(store, index, next(iter(sides.values()))[0], known)
    pending = []
    for name, (options, settings) in sides.items():
        statistics: dict[str, Any] = {"sentences": 0, "dropped": 0, "complete": 0, "unchanged": {}}
        schema = options.schema(columns.schema)
        tables = _tables(columns, options, schema, statistics)
        pending.append(store.write_part(name, index, schema, tables, settings, statistics))
    return pending


def _columns_of(store: Store, index: int, options: PackOptions, known: np.ndarray | None = None) -> pa.Table:
    """What a part offers: `row_id`, the carried columns, and `stage:NAME` with the texts of each stage."""
    # A text that must not be used is null; `left:NAME` says which ones do not meet what is asked of them,
    # `contradictory:NAME` which negatives are positives too, and `cosine:NAME` how near they are to the
    # anchor where a filter or the scores compare them. Without `known` every sentence is there once.
    corpus = store.read_part(CORPUS_STAGE, index, list(dict.fromkeys(["row_id", "text", *options.carry])))
    stages = (
        [*layouts.positive_stages(store, options), *options.negatives]
        if options.negatives
        else options.stages
    )
    read = {name: layouts.texts_of(store, name, index, options) for name in stages if name != CORPUS_STAGE}
    read = {CORPUS_STAGE: corpus["text"]} | read
    if known is None and options.negatives:
        known = layouts.pairs_among(read[name] for name in layouts.positive_stages(store, options))
    table, missing = corpus.drop(["text"]), pa.scalar(None, pa.string())
    asked = conditions_by_stage(options.where)
    for name in (CORPUS_STAGE, *options.stages):
        texts = read[name]
        if conditions := asked.get(name):
            is_left = pa.array(texts.is_valid().to_numpy() & ~meets(store, name, conditions, [index]))
            texts = pc.if_else(is_left, missing, texts)
            table = table.append_column(f"left:{name}", is_left)
        if known is not None and name in options.negatives:
            is_known = pa.array(np.isin(layouts.pairs_of(corpus["text"], texts), known, kind="sort"))
            texts = pc.if_else(is_known, missing, texts)
            table = table.append_column(f"contradictory:{name}", is_known)
        table = table.append_column(f"stage:{name}", texts)
    for name in options.compared:
        found = pa.array(cosines(store, name, index, options.vectors))
        table = table.append_column(f"cosine:{name}", found)
    return table


def cost_of_filters(store: Store, options: PackOptions) -> dict[str, int]:
    """How many rows there are, and how many each filter costs, without writing any."""
    counts, known = np.zeros(len(options.filters) + 1, np.int64), None
    if options.negatives and layouts.has_repeats(store):
        known = layouts.known_pairs(store, options)
    for index in range(len(store.parts)):
        columns = _columns_of(store, index, options, known)
        counts += sum(layouts.count_rows(columns, positive, options) for positive in options.positives)
    return _by_filter(options, counts)


def _by_filter(options: PackOptions, counts: np.ndarray) -> dict[str, int]:
    """Rows without filters, and what each costs, of the numbers of rows with the first 0, 1, … of them."""
    return {"rows": int(counts[0]), **dict(zip(options.filters, (-np.diff(counts)).tolist(), strict=True))}


def costs_of_parts(options: PackOptions, parts: Collection[Part]) -> dict[str, int]:
    """What `cost_of_filters` counts, added up over packed parts; empty if an earlier version packed some."""
    keys = ("rows", *options.filters)
    if not all(_COUNTED + key in part.statistics for part in parts for key in keys):
        return {}
    return {key: sum(part.statistics[_COUNTED + key] for part in parts) for key in keys}


def check_cost(store: Store, options: PackOptions, costs: Mapping[str, int]) -> str:
    """How many rows there are, what each filter costs, and how many are left, as a person reads it."""
    filters = [
        f"--{name.replace('_', '-')} {getattr(options, name):g} costs {costs[name]:,}"
        for name in options.filters
    ]
    left = costs["rows"] - sum(costs[name] for name in options.filters)
    if options.is_filtered and not left:
        asked = [*(f"--where {one!r}" for one in options.where), *filters]
        raise UsageError(f"{store.path}: no row passes the filters ({'; '.join(asked)}); loosen them")
    first = f"{costs['rows']:,} rows {'that meet --where' if options.where else 'without filters'}"
    return "; ".join([first, *filters, f"{left:,} left"])


def _tables(
    columns: pa.Table, options: PackOptions, schema: pa.Schema, statistics: dict[str, Any]
) -> Iterator[pa.Table]:
    """The packed rows, a table at a time, counting what they cost."""
    if options.side:
        anchors = columns[f"stage:{CORPUS_STAGE}"].to_pylist()
        is_test = np.array([_share_of(text, options.seed) < options.split for text in anchors], bool)
        columns = columns.filter(pa.array(is_test == (options.side == "test")))
    statistics["sentences"] = columns.num_rows
    for name in options.stages:
        statistics["unchanged"][name] = columns[f"stage:{name}"].null_count
        for column, key in ((f"left:{name}", _LEFT_OUT), (f"contradictory:{name}", _CONTRADICTORY)):
            if column in columns.column_names and (left := pc.sum(columns[column]).as_py()):
                statistics["unchanged"][name] -= left
                statistics[key + name] = left

    counts = np.zeros(len(options.filters) + 1, np.int64)

    def wide() -> Iterator[pa.Table]:
        nonlocal counts
        for start in range(0, columns.num_rows, ROW_GROUP_ROWS):
            rows = columns.slice(start, ROW_GROUP_ROWS)
            for positive in options.positives:
                table, complete, dropped = layouts.rows_of(rows, positive, options, schema, options.filters)
                if options.is_filtered:
                    counts += layouts.count_rows(rows, positive, options)
                statistics["complete"] += complete
                statistics["dropped"] += dropped
                yield table
        if options.is_filtered:
            statistics.update({_COUNTED + key: cost for key, cost in _by_filter(options, counts).items()})

    if not options.shuffle:
        yield from wide()
        return
    table = pa.concat_tables([schema.empty_table(), *wide()])
    first = columns["row_id"][0].as_py() if columns.num_rows else 0
    places = np.arange(table.num_rows)
    draws = uniform(stream_key(options.seed, "pack/shuffle", 0), np.full(len(places), first), places)
    yield table.take(pa.array(np.argsort(draws, kind="stable")))


def _share_of(text: str, seed: int) -> float:
    """A number in [0, 1) that depends on the text and the seed alone."""
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest) / 2**64


def cost_of(store: Store, stage: str) -> str:
    """What a packed stage kept, and which column cost how much, as a sentence or two for people."""
    record = store.stage(stage)
    parts = [part.statistics for part in record.parts.values()]
    if not all("unchanged" in part for part in parts):
        return ""  # packed by an earlier version
    totals = {key: sum(part[key] for part in parts) for key in ("sentences", "dropped", "complete")}
    unchanged = Counter[str]()
    for part in parts:
        unchanged.update(part["unchanged"])
    line = f"{stage}: {record.rows:,} rows of {totals['sentences']:,} sentences"
    costs = [f"{name} {count:,}" for name, count in unchanged.items() if count]
    if costs:
        line += f"; unchanged, and so without a text of their own: {', '.join(costs)}"
    for prefix, words in (
        (_LEFT_OUT, "texts left out by --where"),
        (_CONTRADICTORY, "negatives left out that are a positive of the same sentence"),
    ):
        left = Counter[str]()
        for part in parts:
            left.update({key.removeprefix(prefix): part[key] for key in part if key.startswith(prefix)})
        if left:
            line += f"; {words}: {', '.join(f'{name} {count:,}' for name, count in left.items())}"
    if totals["dropped"]:
        line += f"; {totals['dropped']:,} rows dropped"
    if record.settings["parameters"].get("unchanged_negatives") and totals["complete"] != record.rows:
        line += (
            f". Where a negative is missing another of the same sentence stands in; --require-all keeps the "
            f"{totals['complete']:,} rows that have all"
        )
    return line
