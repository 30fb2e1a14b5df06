"""The phases of a run."""

from epochcost import files, schemas
from epochcost.record.phases import MEASURING, OVERHEAD, PHASES, TIMED


def test_every_phase_of_the_schema_counts_as_something():
    """One that is missing would be billed to nobody."""
    schema = files.read_json(schemas.FOLDER / "record.schema.json")
    assert set(PHASES) == set(schema["properties"]["phases"]["properties"])
    assert set(PHASES.values()) == {TIMED, OVERHEAD, MEASURING}
