"""How long a training is, read from the loops around its steps, without running any of its code.

The frames say in which loops the script is, the source says over what they go, and only names,
constants, attributes of plain objects and arithmetic are looked up.
"""

import ast
import builtins
import linecache
import os
import sys
import sysconfig

_LIBRARY = tuple({sysconfig.get_path(n) for n in ("stdlib", "platstdlib", "purelib", "platlib")})
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What goes over its first argument, one by one.
_OVER_FIRST = {"enumerate", "tqdm", "track", "progress_bar", "reversed", "list", "iter", "steps"}
_PLAIN = {name: getattr(builtins, name) for name in ("range", "len", "min", "max", "int")}
_COUNTED = (list, tuple, dict, set, frozenset, range, str, bytes)
# Their lengths are those of arrays and samplers, which they have asked for themselves.
_COUNTED_OF = ("torch", "numpy", "tqdm", "accelerate", "datasets", "jax", "jaxlib", "fastprogress")
_OPERATORS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Div: lambda a, b: a / b,
    ast.Mod: lambda a, b: a % b,
}
# Wherever they are installed, their loops are none of the script's.
_FRAMEWORKS = (
    *("torch", "tqdm", "accelerate", "transformers", "lightning", "pytorch_lightning", "fastai"),
    *("fastcore", "keras", "jax", "optax"),
)
# Words of what a loop does now and then beside training.
_BESIDE = ("eval", "valid", "test", "save", "checkpoint")
# How exactly a counter must go with the steps.
_NEAR = 0.02


class Loop:
    """A loop around a step.

    of: turns; None: not known. at: the turn it is in, from 0. start: where a range begins.
    limits: counter, its value after this turn, and that at which the loop ends. every: periods of
    what is done beside training.
    """

    __slots__ = ("at", "every", "key", "limits", "of", "start")

    def __init__(self, key: tuple) -> None:
        self.key = key
        self.of = self.at = None
        self.start = 0
        self.limits: list[tuple[str, int, int]] = []
        self.every: list[int] = []


class Reader:
    """Reads the loops a few times, as the training goes on."""

    def __init__(self) -> None:
        self._next = 0.0
        self._first: tuple[list[Loop], int] | None = None
        self._last: list[Loop] = []
        self._steps = self._batches = 0  # when these were read
        self._turns: dict[tuple[str, int], int] = {}
        self._trees: dict[str, ast.AST] = {}

    def knows(self, frame, turns) -> None:
        """A loop at the line of this frame has so many turns, as what it goes over says."""
        if isinstance(turns, int):
            self._turns[frame.f_code.co_filename, frame.f_lineno] = turns

    def read(self, marks, now: float, last: bool) -> None:
        """Read them, if the last time is long enough ago; innermost first."""
        if now < self._next and not last:
            return
        self._next = now + max(1.0, now - marks.first)
        self._last = self._around(sys._getframe(1), marks.limits["launched_at"])
        self._steps, self._batches = marks.steps, marks.all_batches
        if self._first is None:
            self._first = self._last, marks.steps

    def plan(self) -> tuple[int, str, int] | None:
        """Steps of the whole training, what says so, and how many earlier processes had done."""
        found = [self._by_limit(self._steps), self._by_lengths()]
        return min(filter(None, found), default=None)

    def next_turn(self, steps: int) -> int | None:
        """The step after which a turn of the loop around the innermost one ends, or a period."""
        if not self._last:
            return None
        periods = [every for loop in self._last for every in loop.every]
        each = self._each()
        if len(self._last) > 1 and self._last[0].of and each:
            periods.append(max(1, self._last[0].of // each))
        return min(((steps // p + 1) * p for p in periods if p > 1), default=None)

    def _by_limit(self, steps: int) -> tuple[int, str, int] | None:
        """By a counter that goes with the steps, and ends a loop."""
        before, steps_before = self._first or ([], 0)
        values = {(loop.key, name): at for loop in before for name, at, _ in loop.limits}
        for loop in self._last:
            for name, at, limit in loop.limits:
                each, more = 1, at - steps
                old = values.get((loop.key, name))
                if old is not None and steps - steps_before >= 10:
                    rate = (at - old) / (steps - steps_before)
                    each = round(rate)
                    if each < 1 or abs(rate - each) > _NEAR * each:
                        continue
                    more = at - each * steps
                elif abs(more) > 1:
                    continue
                resumed = round(more / each) if more > 2 * each else 0
                left = max(0, limit - at) / each
                return resumed + steps + round(left), f"{name} in {_place(loop)}", resumed
        return None

    def _by_lengths(self) -> tuple[int, str, int] | None:
        """By the lengths of all loops, one in the other."""
        loops, each = self._last, self._each()
        if not loops or not each or any(loop.of is None for loop in loops):
            return None
        whole, before, inner = 1, 0, 1
        for loop in loops:
            before = before + loop.start * inner
            whole *= loop.of
            inner *= loop.of + loop.start
        if whole // each + 1 < self._steps:
            return None
        resumed = before // each
        return whole // each + resumed, f"the loop of {_place(loops[-1])}", resumed

    def _each(self) -> int | None:
        """Turns of the innermost loop for a step, as where gradients are accumulated."""
        turns, steps = self._batches, self._steps
        if self._last and all(loop.at is not None and loop.of for loop in self._last):
            turns, inner = 1, 1
            for loop in self._last:
                turns += loop.at * inner
                inner *= loop.of
        if not turns:
            return 1
        each = max(1, round(turns / steps))
        return each if abs(turns - each * steps) <= max(each + 1, _NEAR * turns) else None

    def _around(self, frame, launched_at: float) -> list[Loop]:
        found = []
        while frame is not None:
            name = frame.f_code.co_filename
            package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            library = name.startswith(("<frozen", _HERE, *_LIBRARY)) or package in _FRAMEWORKS
            if not library:
                found += self._of_frame(frame, name, launched_at)
            frame = frame.f_back
        return found

    def _of_frame(self, frame, name: str, launched_at: float) -> list[Loop]:
        """The loops of a frame that its line is in."""
        tree = self._tree(name, launched_at)
        line, begin = frame.f_lineno, frame.f_code.co_firstlineno
        nodes = [
            node
            for node in ast.walk(tree)
            if isinstance(node, (ast.For, ast.While))
            and max(begin, node.lineno) <= line <= node.body[-1].end_lineno
        ]
        if not nodes:
            return []
        names = frame.f_locals
        lookup = _Names(names, frame.f_globals)
        loops = [_loop(node, lookup, name, line) for node in sorted(nodes, key=lambda n: -n.lineno)]
        for loop in loops:
            loop.of = self._turns.get(loop.key, loop.of)
        # Before 3.13 a function's frame keeps this copy, and with it what the script let go.
        if sys.version_info < (3, 13) and names is not frame.f_globals:
            names.clear()
        return loops

    def _tree(self, name: str, launched_at: float) -> ast.AST:
        """The source of a file; nothing if it was changed since it began to run."""
        if name not in self._trees:
            try:
                changed = os.path.exists(name) and os.path.getmtime(name) > launched_at
                source = "" if changed else "".join(linecache.getlines(name))
                self._trees[name] = ast.parse(source)
            except (SyntaxError, ValueError, OSError):
                self._trees[name] = ast.Module([], [])
        return self._trees[name]


class _Names:
    def __init__(self, *places) -> None:
        self._places = places

    def __getitem__(self, name: str):
        for place in self._places:
            if name in place:
                return place[name]
        raise LookupError(name)

    def is_plain(self, name: str) -> bool:
        """Whether a name still means what Python means by it."""
        return not any(name in place for place in self._places)


def _loop(node, names: _Names, file: str, line: int) -> Loop:
    loop = Loop((file, node.lineno))
    if isinstance(node, ast.For):
        loop.of = _or_none(_length, node.iter, names)
        target, over = node.target, _or_none(_range, node.iter, names)
        if _called(node.iter) == "enumerate" and len(node.iter.args) == 1:
            over = range(loop.of or 0)
            target = target.elts[0] if isinstance(target, ast.Tuple) else target
        at = _or_none(_value, target, names) if over else None
        if type(at) is int and at in over:
            loop.at = over.index(at)
            loop.start = over.start if over.step == 1 and over.start > 1 else 0
    loop.limits = list(_limits(node, names, line))
    loop.every = list(_periods(node, names))
    return loop


def _value(node, names: _Names):
    """The value of a simple expression.

    Raises:
        LookupError, or what arithmetic raises: it is not simple.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_value(owner, names), name)
        case ast.Subscript(value=owner, slice=key):
            whole = _value(owner, names)
            if type(whole) in (dict, list, tuple):
                return whole[_value(key, names)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            both = _value(left, names), _value(right, names)
            if all(type(one) in (int, float) for one in both):
                return _OPERATORS[type(op)](*both)
        case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]):
            return _length(argument, names)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name in _PLAIN and names.is_plain(name):
                values = [_value(argument, names) for argument in arguments]
                if all(type(value) in (int, float) for value in values):
                    return _PLAIN[name](*values)
    raise LookupError(type(node).__name__)


def _attribute(owner, name: str):
    """An attribute that an object or a module simply has; a property would run code."""
    for kind in type(owner).__mro__:
        if hasattr(type(vars(kind).get(name)), "__set__"):
            raise LookupError(name)
    return vars(owner)[name]


def _length(node, names: _Names) -> int:
    """How many turns a loop over an expression has."""
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "total":
                return int(_value(keyword.value, names))
        if _called(node) == "trange":
            return len(range(*[_value(argument, names) for argument in node.args]))
        if _called(node) in _OVER_FIRST and node.args:
            return _length(node.args[0], names)
    whole = _value(node, names)
    if type(whole) in _COUNTED or _package(whole) in _COUNTED_OF:
        return len(whole)
    raise LookupError(type(whole).__name__)


def _package(value) -> str:
    return type(value).__module__.partition(".")[0]


def _range(node, names: _Names) -> range | None:
    """The range that a loop goes over, in whatever shows its progress."""
    if isinstance(node, ast.Call) and node.args:
        name = _called(node)
        if name == "trange":
            return range(*[_value(argument, names) for argument in node.args])
        if name in _OVER_FIRST - {"enumerate", "reversed"}:
            return _range(node.args[0], names)
    if isinstance(node, ast.Name):
        whole = names[node.id]
        whole = vars(whole).get("iterable") if _package(whole) == "tqdm" else whole
        return whole if type(whole) is range else None
    whole = _value(node, names)
    return whole if type(whole) is range else None


def _called(node) -> str:
    """The last name of what is called; empty if nothing is."""
    function = getattr(node, "func", None)
    return getattr(function, "id", None) or getattr(function, "attr", "")


def _limits(loop, names: _Names, line: int):
    """`while n < 300`, or `if n > 300: break`: a counter, its value after this turn, its last one.

    Args:
        line: where the script is in the loop.
    """
    tests = [(loop.test, True)] if isinstance(loop, ast.While) else []
    for node in ast.walk(loop):
        if isinstance(node, ast.If) and isinstance(node.body[-1], (ast.Break, ast.Return)):
            tests.append((node.test, False))
    added = {
        node.target.id: node
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    for test, goes_on in tests:
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            continue
        sides = (test.left, type(test.ops[0]), test.comparators[0])
        turned = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
        if isinstance(test.comparators[0], ast.Name) and test.comparators[0].id in added:
            sides = (sides[2], turned.get(sides[1]), sides[0])
        counter, operator, limit = sides
        if not isinstance(counter, ast.Name) or counter.id not in added:
            continue
        at, end = _or_none(_value, counter, names), _or_none(_value, limit, names)
        if type(at) is not int or type(end) not in (int, float):
            continue
        one_more = {True: (ast.LtE,), False: (ast.Gt,)}[goes_on]
        if operator in ((ast.Lt, ast.LtE) if goes_on else (ast.Gt, ast.GtE, ast.Eq)):
            # An addition that is yet to come in this turn.
            more = _or_none(_value, added[counter.id].value, names) or 1
            at += more if added[counter.id].lineno > line else 0
            yield counter.id, at, int(end) + (operator in one_more)


def _periods(loop, names: _Names):
    """`if n % 100 == 0: evaluate()`: after how many turns something beside training is done."""
    for node in ast.walk(loop):
        if not isinstance(node, ast.If):
            continue
        words = " ".join(_called(call).lower() for call in ast.walk(node))
        if not any(word in words for word in _BESIDE):
            continue
        for part in ast.walk(node.test):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
                every = _or_none(_value, part.right, names)
                if type(every) is int and every > 0:
                    yield every


def _or_none(function, *arguments):
    try:
        return function(*arguments)
    except Exception:
        return None


def _place(loop: Loop) -> str:
    file, line = loop.key
    return f"{os.path.basename(file)}:{line}"
