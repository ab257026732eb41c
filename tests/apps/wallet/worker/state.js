// The wallet's state, in the shape of a fixture: `{data: {controller: state}, meta: {version}}`.
//
// It is looked for in three places. The session's storage has it when only the service worker was started anew.
// The fixture server has it at the start of a test. The local storage has it otherwise, or nothing does.

import { FIXTURE_PORT } from "../config.js";

const FIXTURE = `http://localhost:${FIXTURE_PORT}/state.json`;
const TRIES = 5;
const PAUSE_MS = 200;

let state;
let fromFixture = false;
let announceLoaded;

export const loaded = new Promise((resolve) => (announceLoaded = resolve));

export async function load() {
  const kept = await chrome.storage.session.get(["state", "fromFixture"]);
  const fixture = kept.state ? undefined : await findFixture();
  fromFixture = kept.fromFixture ?? fixture !== undefined;
  state = kept.state ?? fixture ?? (await findStored()) ?? empty();
  await save();
  announceLoaded();
}

export const controller = (name) => state.data[name] ?? {};

export async function change(name, values) {
  state.data[name] = { ...controller(name), ...values };
  await save();
}

export const isUnlocked = async () => (await chrome.storage.session.get("unlocked")).unlocked === true;

export const setUnlocked = (unlocked) => chrome.storage.session.set({ unlocked });

async function save() {
  await chrome.storage.session.set({ state, fromFixture });
  // A test's state is gone with its browser, so that the next start asks the fixture server again.
  if (!fromFixture) await chrome.storage.local.set({ data: state.data, meta: state.meta });
}

async function findStored() {
  const stored = await chrome.storage.local.get(["data", "meta"]);
  return stored.data && stored.meta ? stored : undefined;
}

async function findFixture() {
  if (!FIXTURE_PORT) return undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const response = await fetch(FIXTURE, { cache: "no-store" });
      return response.ok ? await response.json() : undefined;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  return undefined;
}

const empty = () => ({ data: {}, meta: { version: 1 } });
