// Sessions that go through a file of JSON and come back, and files that are damaged in between.

import {
  type BaseSessionService,
  type Event,
  InMemorySessionService,
  type SessionError,
} from 'adk-session-wasm';
import { exportSession, importSession, type SessionFile } from 'adk-session-wasm/files';
import { NONSENSE, objectsIn } from '../cases/damage.js';
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
import { said } from '../cases/world.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
/** A case has no need to guess the unit of its times. */
const unit = { timeUnit: 'milliseconds' } as const;

repeat('files', 1000, async (seed) => {
  const random = new Random(seed);
  const source = new InMemorySessionService();
  const session = await source.createSession({ ...key, state: { n: 0 } });
  await source.appendEvent({ session, event: said('first') });
  const event = hostileAttempt(random).event as Event;
  requireTypedError(await outcomeOf(() => source.appendEvent({ session, event })));
  const before = present(storedOf(await source.getSession(key)));
  const text = JSON.stringify(await exportSession(source, key));

  const target = new InMemorySessionService();
  const outcome = await outcomeOf(() => importSession(target, text, unit));
  requireTypedError(outcome);
  const after = storedOf(await target.getSession(key));
  if (outcome.isDone) {
    must(isSameJson(asInFile(before), after), 'A session comes back as it was.', before, after);
  } else {
    // A file's events have a form that an append does not ask for: `content` is an object.
    const { path } = outcome.error as SessionError;
    must(
      path?.startsWith('events[1].') === true,
      'Only a hostile event is refused.',
      outcome.error,
    );
    must(after === undefined, 'A refused file leaves nothing.', after);
  }

  await importDamaged(target, random, text);
  const last = storedOf(await target.getSession(key));
  must(isSameJson(after?.events, last?.events), 'Another session is as it was.', last);
  await Promise.all([source.close(), target.close()]);
});

/** Imports the file under another name, with a member changed or the text cut off. */
async function importDamaged(
  service: BaseSessionService,
  random: Random,
  text: string,
): Promise<void> {
  const options = { ...unit, ...key, sessionId: 'damaged' };
  const cut = text.slice(0, random.below(text.length));
  const outcome = await outcomeOf(() =>
    importSession(service, random.once(4) ? cut : damaged(random, text), options),
  );
  requireTypedError(outcome);
  const stored = await service.getSession({ ...key, sessionId: 'damaged' });
  must(outcome.isDone === (stored !== undefined), 'A refused file leaves nothing.', stored);
}

function damaged(random: Random, text: string): SessionFile {
  const file = JSON.parse(text) as SessionFile;
  const target = random.pick(objectsIn(file)) as Record<string, unknown>;
  const name = random.pick(Object.keys(target));
  Object.defineProperty(target, name, { value: random.pick(NONSENSE), enumerable: true });
  return file;
}

const KNOWN = new Set(['content', 'customMetadata']);

/** A known field that is `null` counts as absent in a file. */
function asInFile(stored: Stored): Stored {
  const events = stored.events.map((event) => {
    const entries = Object.entries(event as object);
    return Object.fromEntries(
      entries.filter(([name, value]) => value !== null || !KNOWN.has(name)),
    );
  });
  return { ...stored, events };
}
