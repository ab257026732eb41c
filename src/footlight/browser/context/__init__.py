"""Browser contexts: options, devices and storage state."""
