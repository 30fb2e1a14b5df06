"""The planned length, read from the loops of a script."""

import pytest

# How the loop is written, in which `{step}` is a step; how many steps are planned, or None.
LOOPS = {
    "range": ("for step in range(120): {step}", 120),
    "range by name": ("n = 40\nfor step in range(3 * n): {step}", 120),
    "two loops": ("for epoch in range(3):\n    for i in range(40): {step}", 120),
    "a list": ("for batch in [0] * 120: {step}", None),
    "a list by name": ("batches = [0] * 120\nfor batch in batches: {step}", 120),
    "enumerate": ("batches = [0] * 120\nfor i, batch in enumerate(batches): {step}", 120),
    "while <": ("n = 0\nwhile n < 120:\n    n += 1; {step}", 120),
    "while <=": ("n = 1\nwhile n <= 120:\n    {step}\n    n += 1", 120),
    "break >": (
        "n, most = 0, 119\nwhile True:\n    {step}\n    n += 1\n    if n > most: break",
        120,
    ),
    "break >=": ("n = 0\nwhile True:\n    {step}\n    n += 1\n    if n >= 120: break", 120),
    "turned": ("n = 0\nwhile True:\n    {step}\n    n += 1\n    if 120 <= n: break", 120),
    "generator": ("for batch in (b for b in range(120)): {step}", None),
    "endless": ("import itertools\nfor n in itertools.count():\n    {step}", None),
    "shadowed": ("range = lambda n: iter([0] * 120)\nfor step in range(7): {step}", None),
    "huge": ("for step in range(10 ** 30): {step}", None),
    "bar": ("from tqdm import tqdm\nfor i in tqdm(range(120)): {step}", 120),
    "bar by name": ("from tqdm import tqdm\nbar = tqdm(range(120))\nfor i in bar: {step}", 120),
    "steps": ("import epochcost\nfor i in epochcost.steps([0] * 120): {step}", 120),
    "bar of what is no plain expression": (
        "from tqdm import tqdm\nfor i in tqdm(range(120 if optimizer else 0)): {step}",
        120,
    ),
    "in functions": (
        "def epoch(n):\n    for i in range(n): {step}\n"
        "def main():\n    for e in range(3): epoch(40)\nmain()",
        120,
    ),
    "arguments": (
        "from argparse import Namespace\na = Namespace(steps=120)\nfor i in range(a.steps): {step}",
        120,
    ),
    "a property": (
        "class Plan:\n    @property\n    def steps(self): print('ran'); return 120\n"
        "p = Plan()\nn = 120\nfor i in range(p.steps): {step}",
        None,
    ),
    "accumulated": ("for i in range(120):\n    if i % 4 == 3: {step}", 30),
    "resumed": ("for step in range(80, 120): {step}", 120),
}


@pytest.mark.parametrize("name", LOOPS)
def test_the_length_of_a_loop(script, capfd, name):
    loop, planned = LOOPS[name]
    text = "import torch\noptimizer = torch.optim.SGD()\n" + loop.format(step="optimizer.step()")
    own = script(text).watch(10)
    assert own.steps == 10
    assert own.planned == planned
    assert own.resumed_at == (80 if name == "resumed" else 0)
    # What the script itself says, once.
    assert capfd.readouterr().out == ("ran\n" if name == "a property" else "")


def test_a_loader_in_epochs_with_accumulation(script):
    own = script("""
        import torch
        loader, optimizer = torch.utils.data.DataLoader(range(100)), torch.optim.SGD()
        for epoch in range(3):
            done = 0
            for batch in loader:
                done += 1
                if done % 4 == 0:
                    optimizer.step()
    """).watch(30)
    assert (own.steps, own.planned) == (30, 75)


def test_a_counter_of_a_resumed_training(script):
    own = script("""
        import time, torch
        optimizer, iteration = torch.optim.SGD(), 5000
        while iteration < 6000:
            optimizer.step()
            iteration += 1
            time.sleep(0.01)
    """).watch(250)
    assert (own.steps, own.resumed_at, own.planned) == (250, 5000, 6000)


def test_what_the_user_says_comes_first(script):
    own = script("""
        import torch
        optimizer = torch.optim.SGD()
        for step in range(100): optimizer.step()
    """).watch(10, total_steps=77)
    assert (own.planned, own.planned_by) == (77, "given")


def test_a_source_that_changed_since_is_not_read(script):
    own = script("""
        import torch
        text = open(__file__).read()
        open(__file__, "w").write(text.replace("100", "999"))
        optimizer = torch.optim.SGD()
        for step in range(100): optimizer.step()
    """).watch(10)
    assert own.planned is None
