"""The MetaMask extension, as its own end-to-end tests have it."""
