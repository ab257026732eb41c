"""Run one call: dispatch, sessions, dialogs, observation, steps, progress and recording."""
