"""Measure a bare host that is reached by ssh, and bring its records home.

In: the files of this folder that git tracks, as they are. Out: records in results/runs, as if they
had been copied and merged. The host needs Linux, Python 3.11 or newer with venv, make and tar, and
nothing is installed outside the folder `epochcost` of its user. If the connection breaks, the same
command resumes.
"""

from pathlib import Path

from epochcost import errors, schemas
from epochcost.errors import InputError
from epochcost.measure.remote import Host, measure


def main() -> int:
    parser = errors.Parser(
        description=__doc__.splitlines()[0],
        allow_abbrev=False,
        epilog="More words are for Snakemake on the host: "
        "remote.py me@host gce-t4 --config scale=full workloads=mnist_cnn",
    )
    parser.add_argument("host", help="as ssh knows it: a name of ~/.ssh/config, or user@address")
    parser.add_argument("hardware", help="what the host is: an id of config/hardware.yaml")
    parser.add_argument("--folder", default="epochcost", help="the folder on the host")
    parser.add_argument("--python", default="python3", help="the host's Python, 3.11 or newer")
    parser.add_argument("--mirror", type=Path, help="send this mirror of the data sets, too")
    parser.add_argument("--ssh", default="ssh", help="the ssh command with options of its own")
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    given, words = parser.parse_known_args()
    known = schemas.read("hardware")
    errors.check_name("hardware", given.hardware, known)
    if given.host.startswith("-"):  # which ssh would take for an option
        raise InputError(f"{given.host} is no name or address of a host")
    host = Host(given.ssh, given.host, given.folder)
    return measure(host, words, known, given.hardware, given.python, given.mirror, given.records)


if __name__ == "__main__":
    errors.run(main)
