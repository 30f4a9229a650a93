// The agents that answer in the page: the framework is loaded when it is first used.

import type { RunAgent } from 'adk-session-wasm/live';
import { currentSettings } from '../page/settings.js';
import * as loop from './loop.js';

/** Lets the agents of the settings answer a message. */
export const run: RunAgent = async function* (context) {
  const settings = currentSettings();
  const agents = settings.engine === 'adk' ? await import('./framework.js') : loop;
  yield* agents.answer({ context, settings });
};
