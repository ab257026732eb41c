"""The protocol's requests, a family a module: what comes from the SDK's server becomes a call of ours."""
