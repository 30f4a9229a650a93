// A page with poisoned prototypes. It reports the failures.

import { createEvent, IndexedDbSessionService } from 'adk-session-wasm';
import { withstand } from './conversation.mjs';

declare const POISON: string;
declare const NAMES: readonly string[];

const open = (): IndexedDbSessionService =>
  new IndexedDbSessionService({ name: 'poisoned', durability: 'relaxed' });
const report = withstand(POISON, NAMES, { open, createEvent }, false);
Object.assign(globalThis, { report });
