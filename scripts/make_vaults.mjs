// Write the vaults of the MetaMask fixtures anew: `node scripts/make_vaults.mjs`.
//
// A vault is what the extension keeps of a wallet, in the form of @metamask/browser-passworder: its keyrings as
// JSON, under AES-GCM, with a key that PBKDF2 makes of the password. Salt and IV are random, so each run writes
// others. tests/apps/metamask/test_fixtures.py reads them back.

import { readFileSync, writeFileSync } from "node:fs";

const folder = new URL("../src/footlight/apps/metamask/data/", import.meta.url);
const { password, phrase, entropy } = JSON.parse(readFileSync(new URL("wallet.json", folder)));
const iterations = 600_000; // As the extension has it since 2023; it would write weaker ones anew.

const base64 = (bytes) => Buffer.from(bytes).toString("base64");

async function vault(numberOfAccounts) {
    const keyrings = [
        {
            type: "HD Key Tree",
            data: { mnemonic: [...Buffer.from(phrase)], numberOfAccounts, hdPath: "m/44'/60'/0'/0" },
            metadata: { id: entropy, name: "" },
        },
    ];
    const salt = crypto.getRandomValues(new Uint8Array(32));
    const iv = crypto.getRandomValues(new Uint8Array(16));
    const secret = await crypto.subtle.importKey("raw", Buffer.from(password), "PBKDF2", false, ["deriveKey"]);
    const key = await crypto.subtle.deriveKey(
        { name: "PBKDF2", salt, iterations, hash: "SHA-256" },
        secret,
        { name: "AES-GCM", length: 256 },
        false,
        ["encrypt"],
    );
    const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, Buffer.from(JSON.stringify(keyrings)));
    return JSON.stringify({
        data: base64(data),
        iv: base64(iv),
        keyMetadata: { algorithm: "PBKDF2", params: { iterations } },
        salt: base64(salt),
    });
}

const vaults = { one: await vault(1), three: await vault(3) };
writeFileSync(new URL("vaults.json", folder), `${JSON.stringify(vaults, null, 2)}\n`);
