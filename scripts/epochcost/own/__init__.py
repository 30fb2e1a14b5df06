"""Own trainings: any command of the user's, watched and not changed."""
