"""Real frameworks: steps, plans, gaps, and a stop that saves nothing as final.

No test compares times, as machines are noisy: counts, files and statuses are facts.
"""

import subprocess
from textwrap import dedent

import pytest
from own.styles import STYLES

from epochcost.own.watch import Limits, watch

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quiet")]


@pytest.mark.parametrize("name", STYLES)
def test_a_whole_training(own_bin, tmp_path, capfd, name):
    style = STYLES[name]
    command = style.command(own_bin)
    own = watch(command, Limits("never"), tmp_path)
    said = capfd.readouterr()
    assert own.problems == ()
    assert (own.ended, own.status, own.counted_by) == ("finished", 0, style.counted_by)
    assert (own.steps, own.samples) == (style.steps, style.samples)
    assert own.steps == 1 + sum(stretch.steps for stretch in own.stretches)
    assert (own.world, own.ranks) == (style.ranks, tuple(range(style.ranks)))
    assert tuple(gap.step for gap in own.gaps if gap.kind != "unknown") == style.gaps
    assert own.device == "cpu"
    assert own.packages
    assert own.host_mib > 50
    assert "epochcost" not in said.out
    if style.final:
        assert any(path.startswith(style.final) for path in own.files)
    if style.same:
        alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert said.out == alone.stdout
        assert alone.returncode == 0


@pytest.mark.parametrize("name", STYLES)
def test_a_stopped_training(own_bin, tmp_path, capfd, name):
    style = STYLES[name]
    stop = style.steps // 2 + 3
    own = watch(style.command(own_bin), Limits(stop), tmp_path)
    said = capfd.readouterr()
    assert (own.ended, own.status) == ("steps", 0 if style.ranks > 1 else 75)
    assert own.steps == stop
    assert own.planned == style.steps
    assert own.end_s is None
    assert "Traceback" not in said.err
    assert f"epochcost: stopped the training after step {stop:,}: as many as asked for" in said.err
    if style.final:
        assert not any(path.startswith(style.final) for path in own.files)
    if style.ranks > 1:
        assert {f"last-{rank}-{stop - 1}" for rank in range(style.ranks)} <= set(own.files)


def test_several_steps_of_keras_in_one_call(own_bin, tmp_path, monkeypatch):
    monkeypatch.setenv("AT_ONCE", "10")
    own = watch(STYLES["Keras on JAX"].command(own_bin), Limits("never"), tmp_path)
    assert (own.steps, own.planned) == (400, 400)


CODE = {
    "closures": (
        """
        import torch
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.LBFGS([weight], max_iter=4)
        def closure():
            optimizer.zero_grad()
            loss = (weight**2).sum()
            loss.backward()
            return loss
        for step in range(30):
            optimizer.step(closure)
        """,
        30,
    ),
    "accelerate": (
        """
        import accelerate, torch
        accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        loader = torch.utils.data.DataLoader(torch.randn(80, 4), 4)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for epoch in range(3):
            for batch in loader:
                with accelerator.accumulate(model):
                    accelerator.backward(model(batch).mean())
                    optimizer.step()
                    optimizer.zero_grad()
        """,
        30,
    ),
    "skipped by a scaler": (
        """
        import torch
        weight = torch.nn.Parameter(torch.ones(1))
        optimizer, scaler = torch.optim.SGD([weight], 0.1), torch.amp.GradScaler("cpu")
        for step in range(30):
            loss = weight.sum() * (float("inf") if step % 7 == 0 else 1)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        """,
        30,
    ),
    "workers": (
        """
        import torch
        if __name__ == "__main__":
            weight = torch.nn.Parameter(torch.ones(1))
            optimizer = torch.optim.SGD([weight], 0.1)
            for epoch in range(2):
                loader = torch.utils.data.DataLoader(
                    torch.randn(60, 1), 4, num_workers=2, multiprocessing_context="spawn"
                )
                for batch in loader:
                    (weight * batch).sum().backward()
                    optimizer.step()
        """,
        30,
    ),
    "compiled": (
        """
        import torch
        weight = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([weight], 0.1)
        step = torch.compile(optimizer.step, backend="eager")
        for _ in range(30):
            weight.sum().backward()
            step()
            optimizer.zero_grad()
        """,
        30,
    ),
    "a schedule": (
        """
        import torch
        weight = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.AdamW([weight])
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 30)
        for _ in range(30):
            weight.sum().backward()
            optimizer.step()
            schedule.step()
        """,
        30,
    ),
}


@pytest.mark.parametrize("name", CODE)
def test_real_optimizers(own_bin, tmp_path, capfd, name):
    text, steps = CODE[name]
    (tmp_path / "script.py").write_text(dedent(text))
    own = watch([str(own_bin / "python"), "script.py"], Limits("never"), tmp_path)
    assert (own.steps, own.status, own.problems) == (steps, 0, ())
    assert own.ranks == (0,)
    assert not [gap for gap in own.gaps if gap.kind != "unknown"]


SCHEDULES = {
    "OneCycleLR": "torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=500)",
    "get_scheduler": "transformers.get_scheduler('cosine', optimizer, 10, num_training_steps=500)",
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_tells_the_length_where_no_loop_does(own_bin, tmp_path, name):
    """An endless stream of batches, as of web data sets."""
    text = f"""
    import itertools, torch, transformers
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], 0.1, momentum=0.9)
    schedule = {SCHEDULES[name]}
    for batch in itertools.repeat(torch.ones(1)):
        weight.sum().backward()
        optimizer.step()
        schedule.step()
    """
    (tmp_path / "script.py").write_text(dedent(text))
    own = watch([str(own_bin / "python"), "script.py"], Limits(20), tmp_path)
    assert (own.steps, own.planned, own.planned_by) == (20, 500, name)
    assert own.problems == ()


def test_a_restarted_training_of_torchrun_ends_with_its_stop(own_bin, tmp_path):
    style = STYLES["torchrun"]
    command = style.command(own_bin)
    command[1:1] = ["--max-restarts", "1"]
    own = watch(command, Limits(20), tmp_path)
    assert (own.ended, own.steps, own.status) == ("steps", 20, 0)
