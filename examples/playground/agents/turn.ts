import type { RunContext } from 'adk-session-wasm/live';
import type { Settings } from '../page/settings.js';

/** A message of the guest, for agents to answer. */
export interface Turn {
  readonly context: RunContext;
  readonly settings: Settings;
}
