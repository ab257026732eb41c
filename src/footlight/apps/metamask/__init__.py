"""The MetaMask extension, with the setup of its own end-to-end tests."""
