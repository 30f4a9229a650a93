// A cache whose origin has a small quota.

import { isSessionError } from 'adk-session-wasm';
import { opened, write } from './chat.js';

/** Characters of a message. */
const SIZE = 295 * 1024;

/** Writes messages until there is no room left. @returns the codes of the messages that were stored, and of the failure */
export async function fill(sessionId: string): Promise<{ stored: string[]; code: string }> {
  const stored: string[] = [];
  for (;;) {
    const name = `message ${stored.length}`;
    try {
      await write(sessionId, [`${name}:${noise()}`]);
    } catch (error) {
      if (isSessionError(error)) return { stored, code: error.code };
      throw error;
    }
    stored.push(name);
  }
}

/** Sends what waits. @returns `'sent'`, or the code of the failure */
export async function syncCode(): Promise<string> {
  try {
    await opened().sync();
    return 'sent';
  } catch (error) {
    if (isSessionError(error)) return error.code;
    throw error;
  }
}

/** Text that no browser makes smaller. */
function noise(): string {
  let text = '';
  while (text.length < SIZE) {
    const values = crypto.getRandomValues(new Uint8Array(32 * 1024));
    text += String.fromCharCode(...values.map((value) => 35 + (value % 57)));
  }
  return text;
}
