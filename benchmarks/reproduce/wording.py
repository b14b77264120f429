"""What the document says between its tables."""

HEAD = """\
# Evidence: {about}
{warning}
Drawn by `make reproduce` from `benchmarks/reproduce/results/`; only titles and notes are written by hand, in
`benchmarks/reproduce/grid.toml`. What is recorded there is not trained again; to repeat a row, name a folder
without results, where the document of it is drawn, too: `make reproduce{wanted} ROW=una SEEDS=42 DATA=folder
REPRODUCE_ARGS="--results runs/again --docs runs/again"`. What is missing says `make reproduce-plan{wanted}
DATA=folder`.

Corpus: {corpus} of {files}. Encoder: `{encoder}`. Settings of all rows:
`{settings}`.{stages}

Test sets are encoded in {precision}. Scores are Spearman × 100 of the best checkpoint by STS-B dev, mean ±
sample standard deviation over the seeds. Δ is the difference to the row's own baseline, seed by seed.
"""

PRIMARY = """\
## Primary comparisons

Named in `grid.toml` before any of them was run, with their controls. The interval is Student's over the
differences seed by seed; p is corrected by Holm over all of them, those not measured yet among them. The
other interval resamples the pairs of the test sets and leaves the seeds as they are. `holds`: the paper's
sign, p below 0.05 and at least a third of the paper's size. Everything else in this document is exploratory.
"""

METHODS = """\
## Methods

The STS average is over the STS test sets that the data folder has (see below). The paper's Δ is over its own
baseline, on BERT-base and a million sentences: on the average of seven STS test sets unless marked. Seconds
are of training on 1,000 rows: wall time (the median over the run) and CPU time (with the run's evaluations on
STS-B dev). On a machine that other work shares both can be several times what they are on a quiet one, and
change from hour to hour: only rows that were trained side by side compare.
"""

METHODS_TABLE = (
    "| row | baseline | seeds | STS-B dev | STS-B test | STS average | Δ average | paper's Δ "
    "| wall s | CPU s |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
METHODS_TABLE_UNTRAINED = (
    "| row | baseline | seeds | STS-B dev | STS-B test | STS average | Δ average | Δ to no training "
    "| paper's Δ "
    "| wall s | CPU s |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
)

CONCLUSIONS = """\
## Which conclusions hold at this scale

A difference is taken seed by seed: rows of one seed see the same sentences in the same order, and the seed
moves them together. It counts if it is at least 2 · s / √seeds, where s is the standard deviation of the
difference over the seeds: its own, or that of all comparisons together where that is larger.
Of all together: {noise}.

| better | than | measure | paper | here | seeds | that counts | verdict |
|---|---|---|---|---|---|---|---|"""

SWEEPS = """\
## Sweeps

The values of a sweep are compared with the one the paper found best (where it names none, with the default,
or else the first), seed by seed, over the seeds that all values measured have. A difference on STS-B dev
counts as above; s over all pairs of row and baseline and of value and best value is {noise}. `holds`: worse
than the paper's best value here too. The picture shows these differences, with their deviations as bars.
"""

BANDS = """\
## What to expect with the papers' own setting

`make reproduce PROFILE=paper DATA=folder` trains the same rows from `bert-base-uncased` on a million
sentences with the recipes' own settings; it needs those weights on the machine and a GPU. The band is the
published mean (over seeds where somebody gave one) ± 2 standard deviations, which are taken to be {sd}
points where none was given. A score outside it is worth a look, one inside proves little. The profile trains
BERT-base: a band of another encoder needs a profile that names that one. Some figures were measured otherwise
than the row is (see the notes of the rows above); theirs is no band for it.

| row | paper | measure | encoder | published | band |
|---|---|---|---|---|---|"""
