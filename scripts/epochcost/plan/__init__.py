"""What is wanted and what exists: the runs of a call, and what is refused before its first job."""
