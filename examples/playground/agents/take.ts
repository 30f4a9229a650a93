import * as loop from './loop.js';
import type { Turn } from './turn.js';

/** Stores the message and the answer. The framework is loaded when it is first used. */
export async function take(turn: Turn): Promise<void> {
  const { engine } = turn.settings;
  const agents = engine === 'adk' ? await import('./framework.js') : loop;
  await agents.answer(turn);
}
