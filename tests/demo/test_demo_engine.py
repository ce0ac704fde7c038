import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from exporter.demo import vocabulary
from exporter.demo.engine import Engine, QueueFullError
from exporter.demo.events import Aborted, Delta, Event, Finish, Vectors
from exporter.demo.jobs import Embedding, Generation, Job, Prefill
from exporter.demo.model import Transformer
from exporter.demo.sampling import Sampling

PROMPTS = ["one", "a second and longer prompt " * 8, "3", "the fourth", "five five five", "six"]


@pytest.fixture(scope="module")
def model() -> Transformer:
    return Transformer()


class Collected:
    """Events by job, with a way to wait until some condition holds of them."""

    def __init__(self) -> None:
        self.all: list[tuple[Job, Event]] = []
        self._changed = threading.Condition()

    def post(self, events: list[tuple[Job, Event]]) -> None:
        with self._changed:
            self.all += events
            self._changed.notify_all()

    def of(self, job: Job) -> list[Event]:
        return [event for owner, event in self.all if owner is job]

    def text(self, job: Job) -> str:
        return "".join(event.text for event in self.of(job) if isinstance(event, Delta))

    def ended(self) -> list[Job]:
        return [job for job, event in self.all if not isinstance(event, Delta)]

    def await_end_of(self, *jobs: Job) -> None:
        self.await_that(lambda: set(jobs) <= set(self.ended()))

    def await_that(self, condition) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, timeout=30)


def generation(
    prompt: str = "hello", max_tokens: int = 12, *, seed: int | None = None, stops=()
) -> Generation:
    sampling = Sampling(temperature=0) if seed is None else Sampling(seed=seed)
    tokens = vocabulary.encode_prompt(prompt)
    return Generation(prompt=tokens, max_tokens=max_tokens, sampling=sampling, stops=stops, ignore_end=True)


def engine_for(model: Transformer, collected: Collected, max_batch: int = 4, max_queue: int = 20) -> Engine:
    return Engine(model, max_batch=max_batch, max_queue=max_queue, post=collected.post, clock=time.monotonic)


@contextmanager
def at_work(engine: Engine) -> Iterator[None]:
    thread = threading.Thread(target=engine.run)
    thread.start()
    try:
        yield
    finally:
        engine.stop()
        thread.join()


def answers(model: Transformer, jobs: list[Generation], max_batch: int) -> tuple[list[str], Engine]:
    collected = Collected()
    engine = engine_for(model, collected, max_batch)
    for job in jobs:
        engine.submit(job)
    with at_work(engine):
        collected.await_end_of(*jobs)
    return [collected.text(job) for job in jobs], engine


@pytest.mark.parametrize("seed", [None, 7], ids=["greedy", "seeded"])
def test_a_batch_gives_the_same_texts_as_one_at_a_time_in_fewer_steps(
    model: Transformer, seed: int | None
) -> None:
    lengths = [40, 9, 30, 1, 25, 33]
    batched, engine = answers(
        model, [generation(*pair, seed=seed) for pair in zip(PROMPTS, lengths, strict=True)], 4
    )
    serial, slow = answers(
        model, [generation(*pair, seed=seed) for pair in zip(PROMPTS, lengths, strict=True)], 1
    )
    assert batched == serial
    assert engine.load.decoded_tokens == slow.load.decoded_tokens == sum(lengths) - len(lengths)
    assert slow.load.decode_steps == slow.load.decoded_tokens
    assert engine.load.decode_steps < slow.load.decode_steps / 2


def test_cached_decoding_gives_the_text_of_full_recomputation(model: Transformer) -> None:
    job = generation("recompute me", 10)
    (text,), _ = answers(model, [job], 4)
    tokens, last = list(job.prompt), -1
    for _ in range(10):
        states = Prefill(tokens).advance(model, len(tokens))
        scores = model.logits(states[-1:])[0]
        allowed = vocabulary.may_follow(last, may_end=False)
        last = int(np.where(allowed, scores, -np.inf).argmax())
        tokens.append(last)
    assert text == bytes(tokens[len(job.prompt) :]).decode("utf-8", errors="replace")


def test_first_come_first_served(model: Transformer) -> None:
    jobs = [generation(str(n), 3) for n in range(6)]
    collected = Collected()
    engine = engine_for(model, collected, max_batch=1)
    for job in jobs:
        engine.submit(job)
    with at_work(engine):
        collected.await_end_of(*jobs)
    assert collected.ended() == jobs


def test_the_line_has_an_end(model: Transformer) -> None:
    engine = engine_for(model, Collected(), max_batch=2, max_queue=3)
    for _ in range(5):
        engine.submit(generation())
    with pytest.raises(QueueFullError, match="3 requests are waiting"):
        engine.submit(generation())
    assert engine.load.waiting == 5


def test_a_long_prompt_does_not_hold_up_an_answer(model: Transformer) -> None:
    collected = Collected()
    engine = engine_for(model, collected)
    answer, long_prompt = generation("short", 400), generation("x" * 1500, 1)
    engine.submit(answer)
    with at_work(engine):
        collected.await_that(lambda: collected.of(answer))
        before = len(collected.of(answer))
        engine.submit(long_prompt)
        collected.await_end_of(long_prompt)
        meanwhile = collected.all.index((long_prompt, collected.of(long_prompt)[0]))
        pieces = sum(owner is answer for owner, _ in collected.all[:meanwhile]) - before
    # 1501 tokens are 24 chunks, and a decode step stands between each two of them.
    assert pieces >= 20


def test_cancelled_jobs_free_their_place_in_the_line_and_at_work(model: Transformer) -> None:
    collected = Collected()
    engine = engine_for(model, collected, max_batch=2, max_queue=2)
    endless = [generation(str(n), 4000) for n in range(2)]
    waiting = [generation("w", 2) for _ in range(2)]
    for job in [*endless, *waiting]:
        engine.submit(job)
    with at_work(engine):
        collected.await_that(lambda: all(collected.of(job) for job in endless))
        engine.cancel(waiting[0])
        assert engine.load.waiting == 1
        engine.cancel(endless[0])
        collected.await_end_of(waiting[1])
        assert endless[1] not in collected.ended()
        engine.cancel(endless[1])
        last = generation("after", 2)
        engine.submit(last)
        collected.await_end_of(last)
    assert not collected.of(waiting[0])
    assert collected.ended() == [waiting[1], last]


def test_cancelling_during_prefill_frees_the_slot(model: Transformer) -> None:
    collected = Collected()
    engine = engine_for(model, collected, max_batch=1)
    long_prompt, short = generation("x" * 4000, 1), generation("y", 1)
    engine.submit(long_prompt)
    with at_work(engine):
        while engine.load.active == 0:
            time.sleep(0.001)
        engine.cancel(long_prompt)
        engine.submit(short)
        collected.await_end_of(short)
    assert not collected.of(long_prompt)


def test_a_stop_string_ends_the_answer_before_it(model: Transformer) -> None:
    (whole,), _ = answers(model, [generation("stop test", 60)], 1)
    stop = whole[20:23]
    collected = Collected()
    engine = engine_for(model, collected)
    job = generation("stop test", 60, stops=(stop,))
    engine.submit(job)
    with at_work(engine):
        collected.await_end_of(job)
    assert collected.text(job) == whole[: whole.index(stop)]
    assert collected.of(job)[-1].finish is Finish.STOP
    assert collected.of(job)[-1].tokens < 60


def test_an_answer_ends_at_the_end_token_but_never_before_its_first_token(model: Transformer) -> None:
    only_end = np.full(vocabulary.SIZE, -9, np.float32)
    only_end[vocabulary.END] = 9
    job = Generation(prompt=[1], max_tokens=5, sampling=Sampling(temperature=0))
    first, finish = job.accept(only_end)
    assert (len(first), finish) == (1, None)
    assert job.accept(only_end) == ("", Finish.STOP)
    assert job.tokens == 1


def test_embeddings_are_unit_means_of_the_states_whatever_the_chunks(model: Transformer) -> None:
    texts = [vocabulary.encode_prompt(text) for text in ("short", "long " * 60)]
    collected = Collected()
    engine = engine_for(model, collected)
    job = Embedding(inputs=texts)
    engine.submit(job)
    with at_work(engine):
        collected.await_end_of(job)
    (event,) = collected.of(job)
    assert isinstance(event, Vectors)
    assert event.rows.shape == (2, model.shape.width)
    np.testing.assert_allclose(np.linalg.norm(event.rows, axis=1), 1, atol=1e-5)
    whole = Embedding(inputs=texts[1:])
    assert whole.advance(model, 4096)
    np.testing.assert_allclose(event.rows[1], whole.rows[0], atol=1e-4)
    assert event.rows[0] @ event.rows[1] < 0.999


def test_stopping_tells_everybody(model: Transformer) -> None:
    collected = Collected()
    engine = engine_for(model, collected, max_batch=1)
    jobs = [generation(str(n), 4000) for n in range(3)]
    for job in jobs:
        engine.submit(job)
    with at_work(engine):
        collected.await_that(lambda: collected.of(jobs[0]))
    assert [type(collected.of(job)[-1]) for job in jobs] == [Aborted] * 3


def test_a_crash_of_the_engine_tells_everybody_and_surfaces(model: Transformer) -> None:
    collected = Collected()
    engine = engine_for(model, collected)
    job = Generation(prompt=[vocabulary.SIZE + 1], max_tokens=1, sampling=Sampling())
    engine.submit(job)
    with pytest.raises(IndexError):
        engine.run()
    assert isinstance(collected.of(job)[-1], Aborted)
