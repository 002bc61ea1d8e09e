"""Workers on Ray: starts them, gives them the tasks of a round, and does not wait for those that are lost."""

import json
import socket
import sys
import time
import warnings
from collections import deque
from statistics import median
from urllib.parse import urlsplit

import numpy as np

from . import _lehr, errors
from ._shards import Folder
from .errors import LehrError, MissingPackageError, WorkerError

# Seconds that workers have to come up before the others start without them.
_START = 120.0
# Seconds until the first worker must have come up, which a cluster may have to find a machine for; and for tasks of shards
# that a worker has not had yet, which it copies, opens and checks.
_FIRST = 600.0
# Seconds until something must answer at Ray's address.
_KNOCK = 20.0
# Without a deadline of the user's, a worker is given up that takes N times as long as is usual, and at least so
# many seconds.
_TIMES, _LEAST = 10.0, 30.0
# A worker is reported that takes N times as long as the others, and this many seconds more.
_STRAGGLES, _STRAGGLES_BY = 3.0, 1.0
# This many workers may be lost in one round before that is taken for more than bad luck.
_LOSSES = 5


class StragglerWarning(UserWarning):
    """A worker takes much longer than the others, or was replaced."""


def ray_package():
    """Ray, or an error that says how to get it."""
    try:
        import ray
    except ImportError as error:
        raise MissingPackageError("lehr.distributed needs Ray; install it with: pip install 'lehr[ray]'") from error
    return ray


def started(ray, options, tries=3):
    """Starts Ray, or connects to it. A machine that is too busy for Ray's own 30 seconds is tried again."""
    for left in reversed(range(tries)):
        try:
            ray.init(**options)
            return
        except Exception as error:
            ray.shutdown()
            if not (left and options["address"] == "local" and "timed out" in str(error)):
                raise


def knock(address):
    """Raises OSError if nothing listens at an address with a port: Ray would try for minutes."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.hostname and parts.port:
        socket.create_connection((parts.hostname, parts.port), timeout=_KNOCK).close()


class Cluster:
    """A connection to Ray, which is ended again if it was made here."""

    def __init__(self, address, cpus, memory=None):
        self.ray = ray = ray_package()
        self.own = not ray.is_initialized()
        if not self.own:
            return
        where = "on this machine" if address is None else f"at {address}"
        options = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            options |= {"address": "local", "num_cpus": cpus, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
            options |= {} if memory is None else {"object_store_memory": memory}
        else:
            options |= {"address": address}
        try:
            if address is not None:
                knock(address)
            started(ray, options)
        except Exception as error:  # whatever Ray raises: it has no class of its own for this
            first = str(error).strip().splitlines()
            advice = "start it by hand ('ray start --head') to see why, or fit without it"
            if address is not None:
                advice = (
                    "see whether Ray runs there, as 'ray status' says; a cluster that wants a token needs RAY_AUTH_MODE=token and "
                    "its token here as well"
                )
            raise WorkerError(
                f"Ray cannot be reached {where}: {first[0] if first else type(error).__name__}; {advice}"
            ) from error

    def __enter__(self):
        return self.ray

    def __exit__(self, *_):
        if self.own:
            self.ray.shutdown()


class Actor:
    """What runs in a worker's process."""

    def __init__(self, shards, threads):
        self.shards, self.folder, self.threads, self.worker = shards, None, threads, None

    def load(self, model):
        """Takes the model; any error as a pair of its class and its text."""
        return _answered(self._load, model)

    def _opened(self):
        """The folder, as this machine has it."""
        if self.folder is None:
            self.folder = Folder(self.shards)
        return self.folder

    def _load(self, model):
        self.worker = _lehr.Worker(model, self._opened().path, self.threads)

    def run(self, common, parts, tasks):
        """The replies to tasks and the seconds that they took, or an error."""
        return _answered(self._run, common, parts, tasks)

    def _run(self, common, parts, tasks):
        began = time.monotonic()
        self._opened().bring(parts)
        replies = self.worker.run(common, parts, tasks)
        return replies, time.monotonic() - began

    def transform(self, estimator, part, out):
        """Writes what an estimator makes of a shard."""
        return _answered(self._transform, estimator, part, out)

    def _transform(self, estimator, part, out):
        path = self._opened().bring([part])
        # Reads all of it once: it must be as it was written.
        _lehr.check_shard(path, part)
        entry = json.loads(_lehr.shard_manifest(path))["shards"][part]
        return _transformed(estimator, str(path / entry["file"]), out)


def _transformed(estimator, file, out):
    from os import replace

    method = estimator.transform if hasattr(estimator, "transform") else estimator.predict_proba
    numbers = method(file)
    with open(f"{out}.part", "wb") as whole:
        np.save(whole, numbers)
    replace(f"{out}.part", out)
    return len(numbers)


def _answered(call, *args):
    """What a call returns, or the error that it raises as a pair: errors of ours need not survive a pickle."""
    try:
        return None, call(*args)
    except LehrError as error:
        return (type(error).__name__, str(error)), None


def opened(answer, at=()):
    """What a worker has returned; raises what it has raised, with the files of the shards that it was at."""
    error, result = answer
    if error is None:
        return result
    name, text = error
    kind = getattr(errors, name, LehrError)
    if at and not any(file in text for file in at):
        text = f"{listed(at)}: {text}"
    raise (errors.DataError if kind is errors.SettingError else kind)(text)


def listed(files):
    """Some files, a few of them by name."""
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")


def reason(error):
    """What an exception of Ray is about, in a line: what the worker has raised, if it has."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return f"{type(cause).__name__}: {cause}".splitlines()[0]
    lines = [line for line in str(error).splitlines() if line.strip()]
    # Below the indented lines of a traceback stands what was raised.
    raised = [line for before, line in zip(lines, lines[1:]) if before[0].isspace() and not line[0].isspace()]
    return (raised or lines or [type(error).__name__])[-1 if raised else 0].strip()


class Slot:
    """A place for a worker: a new one comes here when the old one is lost."""

    def __init__(self, number):
        self.number, self.actor, self.loading, self.ready, self.opened = number, None, None, False, set()


class Job:
    """Tasks that a worker was given in this round; `fresh` if it has not had some of their shards yet."""

    def __init__(self, slot, places, fresh):
        self.slot, self.places, self.fresh, self.began = slot, places, fresh, time.monotonic()


class Crew:
    """The workers of a fit; the compiled part calls `model`, `begin` and `poll`."""

    def __init__(self, ray, folder, workers, threads, timeout=None, verbose=False):
        self.ray, self.threads, self.timeout, self.verbose = ray, threads, timeout, verbose
        self.shards = folder.address or str(folder.path)
        self.files = [entry["file"] for entry in json.loads(_lehr.shard_manifest(folder.path))["shards"]]
        self.remote = ray.remote(num_cpus=threads, max_restarts=0, max_task_retries=0)(Actor)
        self.slots = [Slot(number) for number in range(workers)]
        self.packed, self.jobs, self.replies, self.tasks = None, {}, [], []
        self.times, self.told = deque(maxlen=200), set()
        # Of the seconds of each round, those in which the worker that had the most to do was at work are `working`.
        names = ("rounds", "bytes_out", "bytes_in", "seconds", "working", "replaced")
        self.report = {"workers": workers, **dict.fromkeys(names, 0)}
        self.losses, self.shown = 0, 0.0

    # What the compiled part calls.

    def model(self, model):
        """Gives the workers a model, and starts those that there are not yet."""
        self.packed = self.ray.put(model)
        for slot in self.slots:
            self._load(slot)
        self._wait_until_ready(all_of_them=True)

    def begin(self, common, tasks):
        """Gives out the tasks of a round."""
        self._give_up_round()
        self.began, self.losses, self.told = time.monotonic(), 0, set()
        self.common, self.tasks = self.ray.put(common), tasks
        self.replies, self.worked = [None] * len(tasks), {}
        self.report["bytes_out"] += sum(task.nbytes for _, task in tasks)
        self.size = common.nbytes
        self._assign(range(len(tasks)))

    def poll(self, seconds):
        """All replies, in the order of the tasks; None if some are not there after this many seconds."""
        if self.jobs:
            done, _ = self.ray.wait(list(self.jobs), num_returns=len(self.jobs), timeout=seconds)
            for ref in done:
                self._take(ref)
            if self.jobs:
                self._look_at_the_late()
                return None
        replies, self.replies = self.replies, []
        self._note(time.monotonic() - self.began, replies)
        self.common = None
        return replies

    # What happens in between.

    def _load(self, slot):
        """Starts the worker of a slot, if there is none, and sends it the model."""
        if slot.actor is None:
            slot.actor = self.remote.remote(self.shards, self.threads)
        slot.loading, slot.ready, slot.opened = slot.actor.load.remote(self.packed), False, set()
        slot.since = time.monotonic()

    def _wait_until_ready(self, all_of_them=False):
        """Waits for workers that are coming up: for all, or for one; raises if there is none."""
        began, told = time.monotonic(), False
        patience, most = max(_START, self.timeout or 0.0), max(_FIRST, self.timeout or 0.0)
        while True:
            self._see_who_is_ready()
            ready = [slot for slot in self.slots if slot.ready]
            if len(ready) == len(self.slots) or (ready and not all_of_them):
                return
            waited = time.monotonic() - began
            if waited > most or (ready and waited > patience):
                break
            if waited > patience and not told:
                told = True
                warnings.warn(f"{self._nobody(waited)}; waiting for {most:.0f} s", StragglerWarning, stacklevel=2)
            self.ray.wait([slot.loading for slot in self.slots if not slot.ready], timeout=0.5)
        if not ready:
            raise WorkerError(self._nobody(waited))
        text = f"{len(self.slots) - len(ready)} of {len(self.slots)} workers have not come up; the others do all the work"
        warnings.warn(text, StragglerWarning, stacklevel=2)

    def _nobody(self, waited):
        there = self.ray.cluster_resources().get("CPU", 0)
        advice = ": give fewer threads" if there < self.threads else "; 'ray status' says who uses them"
        return (
            f"none of {len(self.slots)} workers with {self.threads} threads came up in {waited:.0f} s; Ray has "
            f"{there:g} processors{advice}"
        )

    def _see_who_is_ready(self):
        for slot in self.slots:
            if slot.ready or slot.loading is None or not self.ray.wait([slot.loading], timeout=0)[0]:
                continue
            try:
                opened(self.ray.get(slot.loading))
                slot.ready = True
            except errors.FileError as error:
                # The driver has opened the folder, so that this is about another machine.
                raise type(error)(
                    f"{error}; a worker cannot open the shards: put them where every machine finds them by the same name, "
                    "or give an address that fsspec knows, such as s3://bucket/news.shards"
                ) from error
            except self.ray.exceptions.RayError as error:
                self._lost(slot, error)

    def _assign(self, places):
        """Gives tasks to workers that are there: each has shards of its own, which it has opened already."""
        self._see_who_is_ready()
        if not any(slot.ready for slot in self.slots):
            self._wait_until_ready()
        ready = [slot for slot in self.slots if slot.ready]
        shares = {}
        for place in places:
            part = self.tasks[place][0]
            home = self.slots[part % len(self.slots)]
            slot = home if home.ready else ready[part % len(ready)]
            shares.setdefault(slot.number, []).append(place)
        for number, own in shares.items():
            slot = self.slots[number]
            parts, tasks = [self.tasks[place][0] for place in own], [self.tasks[place][1] for place in own]
            fresh = not slot.opened.issuperset(parts)
            self.jobs[slot.actor.run.remote(self.common, parts, tasks)] = Job(slot, own, fresh)
            self.report["bytes_out"] += self.size

    def _take(self, ref):
        """Takes the replies of a worker; if it is lost, others get its tasks."""
        job = self.jobs.pop(ref)
        files = [self.files[self.tasks[place][0]] for place in job.places]
        try:
            replies, worked = opened(self.ray.get(ref), files)
        except self.ray.exceptions.RayTaskError as error:
            raise WorkerError(f"{self.shards}: a worker failed at {listed(files)}: {reason(error)}") from error
        except self.ray.exceptions.RayError as error:
            self._lost(job.slot, error)
            self._assign(job.places)
            return
        job.slot.opened.update(self.tasks[place][0] for place in job.places)
        if not job.fresh:
            self.times.append(time.monotonic() - job.began)
        self.worked[job.slot.number] = self.worked.get(job.slot.number, 0.0) + worked
        for place, reply in zip(job.places, replies):
            self.replies[place] = reply

    def _look_at_the_late(self):
        """Tells of workers that take long, and gives up those that take too long."""
        now, usual = time.monotonic(), median(self.times) if self.times else None
        for ref, job in list(self.jobs.items()):
            took, deadline = now - job.began, self._deadline(job, usual)
            late = usual is not None and not job.fresh and took > max(_STRAGGLES * usual, usual + _STRAGGLES_BY)
            if late and job.slot.number not in self.told:
                self.told.add(job.slot.number)
                text = f"worker {job.slot.number} has been at work for {took:.1f} s; {usual:.2g} s are usual"
                warnings.warn(text, StragglerWarning, stacklevel=2)
            if took > deadline:
                del self.jobs[ref]
                self._lost(job.slot, f"it has not answered for {took:.1f} s")
                self._assign(job.places)

    def _deadline(self, job, usual):
        if self.timeout is not None:
            return self.timeout
        return _FIRST if job.fresh or usual is None else max(_LEAST, _TIMES * usual)

    def _lost(self, slot, why):
        """Replaces the worker of a slot."""
        self.losses += 1
        self.report["replaced"] += 1
        why = why if isinstance(why, str) else reason(why)
        if self.losses > _LOSSES + len(self.slots):
            raise WorkerError(f"{self.losses} workers were lost in one round; the last: {why}")
        warnings.warn(f"worker {slot.number} is lost and replaced: {why}", StragglerWarning, stacklevel=2)
        if slot.actor is not None:
            self.ray.kill(slot.actor, no_restart=True)
        slot.actor = None
        self._load(slot)

    def _give_up_round(self):
        """Drops a round that a stop has cut short; a worker that is still at it works for nothing."""
        self.jobs, self.replies, self.common = {}, [], None

    def _note(self, seconds, replies):
        report = self.report
        report["rounds"] += 1
        report["seconds"] += seconds
        report["working"] += max(self.worked.values(), default=0.0)
        report["bytes_in"] += sum(reply.nbytes for reply in replies)
        if self.verbose and time.monotonic() - self.shown > 0.2:
            self.shown = time.monotonic()
            print("\r\x1b[K" + self.line(), end="", file=sys.stderr, flush=True)

    def line(self):
        """How it goes, for people."""
        report, rounds = self.report, max(self.report["rounds"], 1)
        workers = sum(slot.ready for slot in self.slots)
        return (
            f"lehr: round {report['rounds']}  {workers} workers  {1e3 * report['seconds'] / rounds:.0f} ms, "
            f"{report['bytes_out'] / rounds / 1e6:.2f} MB out and {report['bytes_in'] / rounds / 1e6:.2f} MB in a round"
        )

    def end(self):
        """Ends the workers."""
        if self.verbose and self.report["rounds"]:
            print("\r\x1b[K" + self.line(), file=sys.stderr)
        for slot in self.slots:
            if slot.actor is not None:
                self.ray.kill(slot.actor, no_restart=True)

    def transform(self, jobs, estimator):
        """Has an estimator applied to shards; `jobs` are pairs of a shard and the file to write."""
        kept, left, under_way, losses = self.ray.put(estimator), list(jobs), {}, 0
        for slot in self.slots:
            slot.actor = self.remote.remote(self.shards, self.threads)
        idle = list(self.slots)
        while left or under_way:
            while left and idle:
                slot, job = idle.pop(), left.pop(0)
                under_way[slot.actor.transform.remote(kept, *job)] = (slot, job, time.monotonic())
            done, _ = self.ray.wait(list(under_way), timeout=0.5)
            # Every shard is a new one to its worker, and some are larger than others.
            patience = self.timeout or max(_FIRST, _TIMES * median(self.times or [0.0]))
            late = [ref for ref, (_, _, began) in under_way.items() if time.monotonic() - began > patience]
            for ref in {*done, *late}:
                slot, job, began = under_way.pop(ref)
                idle.append(slot)
                try:
                    if ref not in done:
                        raise self.ray.exceptions.GetTimeoutError("it has not answered in time")
                    opened(self.ray.get(ref), [self.files[job[0]]])
                    self.times.append(time.monotonic() - began)
                except self.ray.exceptions.RayTaskError as error:
                    text = f"{self.shards}: a worker failed at {self.files[job[0]]}: {reason(error)}"
                    raise WorkerError(text) from error
                except self.ray.exceptions.RayError as error:
                    losses += 1
                    if losses > _LOSSES + len(self.slots):
                        text = f"{self.shards}: {losses} workers were lost; the last at {self.files[job[0]]}: {reason(error)}"
                        raise WorkerError(text) from error
                    left.append(job)
                    self.ray.kill(slot.actor, no_restart=True)
                    slot.actor = self.remote.remote(self.shards, self.threads)
