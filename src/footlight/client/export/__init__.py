"""A call log written as a pytest test: the calls, the assertions on their results, and the source."""
