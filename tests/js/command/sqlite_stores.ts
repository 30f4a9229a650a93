// SQLite files for the tests of copies: paths of their own in one folder, and files with sessions.

import { join } from 'node:path';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { createEvent } from '../../../js/index.js';
import { fill } from './stores.js';
import { newFolder } from '../../new_folder.js';

const folder = newFolder();
let count = 0;
export const newPath = (end = '.db') => join(folder, `${++count}${end}`);
export const newUrl = () => `sqlite:${newPath()}`;
export const pathOf = (url: string) => url.slice('sqlite:'.length);

export async function filled(): Promise<string> {
  const url = newUrl();
  await fill(url);
  return url;
}

export const KEY = { appName: 'app', userId: 'ada', sessionId: 's1' };

/** A database with one session, whose event has this text. */
export async function withSession(
  text: string,
  state: Record<string, unknown> = {},
): Promise<string> {
  const url = newUrl();
  const service = new DatabaseSessionService(url);
  const session = await service.createSession({ ...KEY, state });
  const event = createEvent({ id: 'e1', author: 'user', timestamp: 1_700_000_000_000 });
  event.content = { role: 'user', parts: [{ text }] };
  await service.appendEvent({ session, event });
  await service.close();
  return url;
}

export async function textIn(url: string): Promise<string | undefined> {
  const service = new DatabaseSessionService(url);
  const session = await service.getSession(KEY);
  await service.close();
  return session?.events[0]?.content?.parts?.[0]?.text;
}
