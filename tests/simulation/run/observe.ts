// Reads all stored data through a service without faults.

import type { SessionService } from '../../../js/index.js';
import type { Rules } from '../model/apply.js';
import { canonical } from '../model/canonical.js';
import { nameOf, textOfSession, textOfWorld } from '../model/world.js';
import type { SessionName } from '../operation.js';
import { readText } from './perform.js';

/** @throws Error if two methods of the service return different data */
export async function observe(
  service: SessionService,
  names: readonly SessionName[],
  rules: Rules,
): Promise<string> {
  const apps = [...new Set(names.map(({ appName }) => appName))];
  const users = [...new Set(names.map(({ appName, userId }) => nameOf(appName, userId)))];
  const sessions: string[] = [];
  const found = await Promise.all(names.map((name) => service.getSession(name)));
  for (const session of found) if (session !== undefined) sessions.push(readText(session, rules));
  for (const appName of apps) {
    const { sessions: listed, totalItems } = await service.listSessions({ appName });
    const texts = listed.map((session) => readText(session, rules)).sort();
    const expected = found
      .filter((session) => session?.appName === appName)
      .map((session) => {
        const { id, userId, lastUpdateTime, state } = session!;
        const time = rules.hasExactTimes ? lastUpdateTime : 0;
        return textOfSession({ appName, userId, sessionId: id }, time, state, []);
      })
      .sort();
    requireSame(`listSessions of ${appName}`, texts.join('\n'), expected.join('\n'));
    requireSame(`totalItems of ${appName}`, String(totalItems), String(listed.length));
  }
  const userTexts = await Promise.all(
    users.map(async (name) => {
      const [appName = '', userId = ''] = JSON.parse(name) as string[];
      return `${name}:${canonical(await service.getUserState({ appName, userId }))}`;
    }),
  );
  const appTexts = await Promise.all(
    apps.map(
      async (appName) => `${nameOf(appName)}:${canonical(await service.getAppState({ appName }))}`,
    ),
  );
  return textOfWorld(sessions, userTexts, appTexts);
}

function requireSame(what: string, actual: string, expected: string): void {
  if (actual === expected) return;
  throw new Error(`${what} is\n${actual}\nbut getSession returned\n${expected}`);
}
