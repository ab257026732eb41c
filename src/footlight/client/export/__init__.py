"""Export a call log as a pytest test, with the calls and with assertions on their results."""
