// Sessions that are exported to a JSON file and imported again, and imports of damaged files.

import { type BaseSessionService, type Event, InMemorySessionService } from 'adk-session-wasm';
import { exportSession, importSession, type SessionFile } from 'adk-session-wasm/files';
import { DIALECTS } from '../../js/files/dialects.js';
import { WRONG_VALUES, objectsIn } from '../cases/damage.js';
import { hostileAttempt } from '../cases/events.js';
import {
  isSameJson,
  must,
  outcomeOf,
  present,
  requireTypedError,
  type Stored,
  storedOf,
} from '../cases/oracle.js';
import { Random } from '../cases/random.js';
import { repeat } from '../run.js';
import { textEvent } from '../cases/world.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
type Dialect = (typeof DIALECTS)[number];

repeat('files', 1000, async (seed) => {
  const random = new Random(seed);
  const source = new InMemorySessionService();
  const session = await source.createSession({ ...key, state: { n: 0 } });
  await source.appendEvent({ session, event: textEvent('first') });
  const event = hostileAttempt(random).event as Event;
  requireTypedError(await outcomeOf(() => source.appendEvent({ session, event })));
  const before = present(storedOf(await source.getSession(key)));
  const dialect = random.pick(DIALECTS);
  const text = JSON.stringify(await exportSession(source, key, dialect));

  const target = new InMemorySessionService();
  await importSession(target, text, { timeUnit: dialect.timeUnit });
  const after = present(storedOf(await target.getSession(key)));
  const expected = asInFile(before, dialect);
  must(
    isSameJson(expected, asInFile(after, dialect)),
    'An imported session equals the exported one.',
    expected,
    after,
    dialect,
  );

  await importDamaged(target, random, text, dialect);
  const last = storedOf(await target.getSession(key));
  must(isSameJson(after.events, last?.events), 'Other sessions do not change.', last);
  await Promise.all([source.close(), target.close()]);
});

/** Imports the file under another id, with a changed member or a truncated text. */
async function importDamaged(
  service: BaseSessionService,
  random: Random,
  text: string,
  { timeUnit }: Dialect,
): Promise<void> {
  const options = { timeUnit, ...key, sessionId: 'damaged' };
  const cut = text.slice(0, random.below(text.length));
  const outcome = await outcomeOf(() =>
    importSession(service, random.once(4) ? cut : damaged(random, text), options),
  );
  requireTypedError(outcome);
  const stored = await service.getSession({ ...key, sessionId: 'damaged' });
  must(outcome.isDone === (stored !== undefined), 'A refused file leaves no session.', stored);
}

function damaged(random: Random, text: string): SessionFile {
  const file = JSON.parse(text) as SessionFile;
  const target = random.pick(objectsIn(file)) as Record<string, unknown>;
  const name = random.pick(Object.keys(target));
  Object.defineProperty(target, name, { value: random.pick(WRONG_VALUES), enumerable: true });
  return file;
}

const KNOWN = new Set(['content', 'customMetadata']);

/** A known field that is `null` counts as absent in a file, and times in seconds are exact to the microsecond. */
function asInFile(stored: Stored, { timeUnit }: Dialect): Stored {
  const timed = (time: number): number => (timeUnit === 'seconds' ? Math.round(time * 1000) / 1000 : time);
  const events = stored.events.map((event) => {
    const entries = Object.entries(event as object).map(([name, value]: [string, unknown]) => [
      name,
      name === 'timestamp' ? timed(value as number) : value,
    ]);
    return Object.fromEntries(
      entries.filter(([name, value]) => value !== null || !KNOWN.has(name as string)),
    ) as object;
  });
  return { ...stored, events, lastUpdateTime: timed(stored.lastUpdateTime) };
} // prettier-ignore
