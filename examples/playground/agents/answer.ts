// One answer of the agents: it streams into the conversation, which shows what is stored meanwhile.

import type { LiveSession } from 'adk-session-wasm/live';
import { report } from '../page/element.js';
import { currentSettings } from '../page/settings.js';
import { take } from './take.js';

/**
 * Lets the agents answer a message, which they store themselves. `edit`, `regenerate` and `switchBranch` abort that.
 *
 * @throws whatever the model or the service throws, unless the answer was aborted
 */
export async function answer(chat: LiveSession, text: string): Promise<void> {
  try {
    await chat.run(async (signal) => {
      try {
        await take({
          key: chat.key,
          text,
          settings: currentSettings(),
          onPartial(event) {
            signal.throwIfAborted();
            chat.send(event).catch(report);
          },
        });
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    });
  } finally {
    chat.discardDrafts();
  }
}
