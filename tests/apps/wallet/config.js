// Written anew by tests/apps/wallet_folder.py for tests that use other ports.
export const FIXTURE_PORT = 12345;
export const RPC_PORT = 8545;
