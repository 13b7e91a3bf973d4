"""A world with a running driver goes in, and something happens to it: every kind of kill, by name."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import psutil

from tests.torture import aim
from tests.torture.world import RESERVED, World

Kill = Callable[[World], None]
PATIENCE = 30.0  # seconds that a driver gets to end
_OVER = (0, 1, 3, 4)  # exit codes of a driver that was at its end before anything could happen to it


def driver(world: World) -> None:
    """Kill -9 one driver; its shards go on."""
    for one in world.alive()[:1]:
        one.kill()
        one.wait()


def shell(world: World) -> None:
    """Kill -9 the shell of one shard; its runner goes on."""
    for one in aim.pick(world, world.shells()):
        world.note(fact="shell", shell=one.pid)
        aim.kill(one.pid)


def runner(world: World) -> None:
    """Kill -9 one runner."""
    with aim.gate(world):
        for one in aim.pick(world, world.runners()):
            aim.kill(one.pid)


def group(world: World) -> None:
    """Kill -9 one shard with all that is in its process group."""
    with aim.gate(world):
        for one in aim.pick(world, world.shells()):
            world.note(fact="shell", shell=one.pid)
            with suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)


def ledger(world: World) -> None:
    """Kill -9 the ledger."""
    for one in aim.pick(world, world.ledgers()):
        world.excused.add(70)
        aim.kill(one.pid)


def everything(world: World) -> None:
    """Kill -9 all of it at once, as a power cut does; half of the time the machine comes up with another boot id."""
    with aim.gate(world):
        for one in world.shells():  # one may have had no room to write down how its runner ended
            world.note(fact="shell", shell=one.pid)
        pids = [process.pid for process in psutil.process_iter() if aim.inside(process, world.path)]
        world.dice.shuffle(pids)
        for pid in pids:
            aim.kill(pid)
    for one in world.drivers:
        one.wait()
    if world.dice.random() < 0.5:
        for start in world.sweep.glob("cells/*/*/start"):
            words = start.read_text().split()
            if len(words) == 4:
                start.write_text(f"{words[0]} {words[1]} 00000000-0000-4000-8000-000000000000 {words[3]}\n")


def interrupt(world: World) -> None:
    _signalled(world, signal.SIGINT)


def terminate(world: World) -> None:
    _signalled(world, signal.SIGTERM)


def hang_up(world: World) -> None:
    _signalled(world, signal.SIGHUP)


def echoed(world: World) -> None:
    """Send one wish twice within a moment, as timeout(1) and a closing terminal do: it counts once."""
    number = world.dice.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    _signalled(world, number, again=0.01)


def harder(world: World) -> None:
    """Send SIGINT, and again when it has taken too long."""
    world.note(fact="harder")
    _signalled(world, signal.SIGINT, again=1.2)


def suspend(world: World) -> None:
    """Suspend from outside; resume, sometimes while the driver still drains."""
    _requested(world, "suspend")


def cancel(world: World) -> None:
    """Cancel from outside; resume, sometimes while the driver still drains."""
    _requested(world, "cancel")


def second(world: World) -> None:
    """Start a second driver beside the first."""
    first = world.alive()[:1]
    other = world.start()
    code = other.wait(PATIENCE)
    if first and first[0].poll() is None and code != 5:
        world.blame("ends", f"a second driver exited {code}")


def torn(world: World) -> None:
    """Put what a crash can leave on the end of the ledger: half a line, NULs, doubled, foreign and binary lines."""
    if not world.ledger.exists():
        return
    with world.ledger.open("a+b") as file, (world.sweep / "ledger.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file.seek(0)
        lines = file.read().splitlines(keepends=True)
        last = lines[-1] if lines else b"{}\n"
        tails = (last[: len(last) // 2], b"\0" * 512, b"".join(lines[-3:]), b"words\n[1, 2]\n", b"\xff\xfe\n{", b'"')
        file.write(world.dice.choice(tails))


def crash(world: World) -> None:
    """Kill the driver and its ledger while it writes a line."""
    if world.dice.random() < 0.5:
        ledger(world)
    driver(world)
    aim.quiet(world)
    torn(world)


def full(world: World) -> None:
    """Fill the disk that the sweep is on for a while."""
    if not world.small:
        return
    world.excused |= {2, 70}  # a driver that starts now cannot
    hog = world.path / "sweeps" / "hog"
    for size in (1 << 20, 4096):
        with suppress(OSError), hog.open("ab", buffering=0) as file:
            while file.write(b"x" * size):
                pass
    time.sleep(world.dice.uniform(0.2, 1.5))
    if world.dice.random() < 0.3:
        world.dice.choice((driver, shell, runner, group))(world)
    hog.unlink(missing_ok=True)


def grow(world: World) -> None:
    """Put a new value at the head of the axis, render again, and go on with the new driver."""
    fresh = [f"c{number}" for number in range(16) if f"c{number}" not in world.axis]
    _changed(world, [*fresh[:1], *world.axis])


def shrink(world: World) -> None:
    """Take a value out of the axis."""
    left = list(world.axis)
    if len(left) > 2:
        left.remove(world.dice.choice(left))
    _changed(world, left)


def reorder(world: World) -> None:
    """Shuffle the axis."""
    shuffled = list(world.axis)
    world.dice.shuffle(shuffled)
    _changed(world, shuffled)


def raise_cap(world: World) -> None:
    """Raise the cap of a driver that runs."""
    world.raise_cap(RESERVED)
    if not world.ledger.exists():
        world.excused.add(2)  # there is no sweep yet
    world.follow(world.tool_driver("resume", "torture", "--max-cost-usd", str(world.cap)))


def stop(world: World) -> None:
    """Stop a shell, a runner or the ledger for a while, as a busy machine does."""
    for one in aim.pick(world, [*world.shells(), *world.runners(), *world.ledgers()]):
        with suppress(psutil.Error):
            one.suspend()
            time.sleep(world.dice.uniform(0.1, 1.5))
            one.resume()


def shards(world: World) -> None:
    """Run the cells as make or GNU parallel would, one driver each, and kill something of one."""
    for one in list(world.alive()):
        one.kill()
        one.wait()
    aim.quiet(world)
    for index in range(len(world.axis)):
        world.start("shard", str(index))
    time.sleep(world.dice.uniform(0.3, 2))
    world.dice.choice((driver, shell, runner, group, ledger))(world)
    for one in list(world.drivers):
        one.wait(PATIENCE)


KINDS: Mapping[str, Kill] = {
    "driver -9": driver,
    "shell -9": shell,
    "runner -9": runner,
    "group -9": group,
    "ledger -9": ledger,
    "all -9, reboot": everything,
    "SIGINT": interrupt,
    "SIGTERM": terminate,
    "SIGHUP": hang_up,
    "signal echoed": echoed,
    "SIGINT, harder": harder,
    "suspend": suspend,
    "cancel": cancel,
    "second driver": second,
    "torn ledger": torn,
    "crash, torn": crash,
    "disk full": full,
    "axis grown": grow,
    "axis shrunk": shrink,
    "axis reordered": reorder,
    "cap raised": raise_cap,
    "SIGSTOP": stop,
    "shards": shards,
}


def _signalled(world: World, number: signal.Signals, *, again: float | None = None) -> None:
    for one in world.alive()[:1]:
        one.send_signal(number)
        if again is not None:
            time.sleep(again)
            one.send_signal(number)
        code = one.wait(PATIENCE)
        if code == 5 and world.alive():
            continue  # it came second, and the first one drives
        if code not in {128 + number, -number, *_OVER} | world.excused:  # -n: it had not set its traps yet
            world.blame("ends", f"{number.name} made the driver exit {code}")


def _requested(world: World, wish: str) -> None:
    begun = world.ledger.exists()
    found = world.tool(wish, "torture")
    if found.returncode and begun:
        world.blame("ends", f"{wish}: exit {found.returncode}: {found.stderr.strip()}")
    if world.dice.random() < 0.5:
        for one in world.alive()[:1]:
            if (code := one.wait(PATIENCE)) not in {4, *_OVER} | world.excused:
                world.blame("ends", f"{wish} made the driver exit {code}")
    if world.ledger.exists():
        world.follow(world.tool_driver("resume", "torture"))


def _changed(world: World, axis: list[str]) -> None:
    world.axis = axis
    world.render()
    if world.dice.random() < 0.5:
        driver(world)
    else:
        _signalled(world, signal.SIGINT)
