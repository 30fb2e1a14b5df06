"""What a training would take on a GPU where nobody has measured it, and how sure that is."""

from epochcost.estimate.knowledge import Knowledge, read
from epochcost.estimate.transfer import Estimate, Measured, Refusal, time_on

__all__ = ["Estimate", "Knowledge", "Measured", "Refusal", "read", "time_on"]
