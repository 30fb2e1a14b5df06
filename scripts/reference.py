"""Say what is known of a GPU: how fast it is beside others, by how many networks, and from where.

In: data/reference. Out: text on the screen.
"""

from epochcost import errors, estimate, settings
from epochcost.estimate import reference
from epochcost.show import reference as shown


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("gpu", nargs="?", help="such as H100; without one, the setting `gpu`")
    settings.option(parser, "reference")
    arguments = parser.parse_args()
    gpu = arguments.gpu or arguments.settings.gpu
    if not gpu:
        raise errors.InputError("which GPU? snakemake reference --config gpu=H100")
    titles = {row["source_id"]: row["title"] for row in reference.rows("sources")}
    print(shown.text(gpu, estimate.read(), titles))


if __name__ == "__main__":
    errors.run(main)
