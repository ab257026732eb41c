"""The MetaMask extension as an app under test, with the setup of its own end-to-end tests."""
