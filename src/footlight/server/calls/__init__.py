"""Run calls, including sessions, dialogs, observation, steps, progress and recording."""
