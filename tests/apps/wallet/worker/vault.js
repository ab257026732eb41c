// Keyrings under a password, in the format of @metamask/browser-passworder.

const ITERATIONS = 10_000;
const ITERATIONS_OF_OLD_VAULTS = 10_000; // They do not say.

export async function encrypt(password, keyrings) {
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const iv = crypto.getRandomValues(new Uint8Array(16));
  const key = await deriveKey(password, salt, ITERATIONS);
  const text = new TextEncoder().encode(JSON.stringify(keyrings));
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, text);
  return JSON.stringify({
    data: toBase64(new Uint8Array(data)),
    iv: toBase64(iv),
    keyMetadata: { algorithm: "PBKDF2", params: { iterations: ITERATIONS } },
    salt: toBase64(salt),
  });
}

/** The keyrings, or undefined if that is not the password. */
export async function decrypt(password, vault) {
  const { data, iv, keyMetadata, salt } = JSON.parse(vault);
  const iterations = keyMetadata?.params?.iterations ?? ITERATIONS_OF_OLD_VAULTS;
  const key = await deriveKey(password, fromBase64(salt), iterations);
  try {
    const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv: fromBase64(iv) }, key, fromBase64(data));
    return JSON.parse(new TextDecoder().decode(text));
  } catch {
    return undefined;
  }
}

async function deriveKey(password, salt, iterations) {
  const material = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, [
    "deriveKey",
  ]);
  return crypto.subtle.deriveKey(
    { name: "PBKDF2", hash: "SHA-256", salt, iterations },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes));
const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
