"""A question that cannot be answered ends with one line of ours."""

import pytest
from clones import make_clone


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return make_clone(tmp_path_factory.mktemp("refused") / "clone")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("advise --config workload=MNIST", "unknown workload 'MNIST'; did you mean 'mnist_mlp'?"),
        ("advise --config workload=mnist_mlp gpu=h10", "gpu: unknown 'h10'; did you mean 'H100'?"),
        ("advise --config workload=mnist_mlp deadline=soon", "config: deadline: 'soon' is not a"),
        ("reference --config gpu=4091", "unknown GPU '4091'"),
        ("runs --config price_book=1999-01", "'1999-01' is not a price book"),
    ],
)
def test_only_the_reason_is_printed(clone, words, said):
    done = clone.snakemake(*words.split(), check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line]
    assert done.returncode == 1
    assert [line for line in lines if not line.startswith("Using workflow specific profile")] == [
        line for line in lines if line.startswith("epochcost: ") and said in line
    ], lines
    assert any(said in line for line in lines)
