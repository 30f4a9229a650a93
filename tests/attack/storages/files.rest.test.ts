// Sessions that are exported to a JSON file and imported again, and imports of damaged files.

import { type SessionService, type Event, InMemorySessionService } from 'adk-session-wasm';
import { exportSession, importSession, type SessionFile } from 'adk-session-wasm/files';
import fc from 'fast-check';
import { DIALECTS } from '../../js/service/files/dialects.js';
import { type Damage, damageIn, damages } from '../cases/damage.js';
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
import { withstands } from '../run.js';
import { textEvent } from '../cases/world.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
type Dialect = (typeof DIALECTS)[number];

withstands(
  'A session in a file',
  fc.asyncProperty(
    hostileAttempt,
    fc.constantFrom(...DIALECTS),
    fc.oneof(damages, fc.record({ cut: fc.nat(2000) })),
    async (attempt, dialect, damage) => {
      const source = new InMemorySessionService();
      const session = await source.createSession({ ...key, state: { n: 0 } });
      await source.appendEvent({ session, event: textEvent('first') });
      const event = attempt().event as Event;
      requireTypedError(await outcomeOf(() => source.appendEvent({ session, event })));
      const before = present(storedOf(await source.getSession(key)));
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

      await importDamaged(target, damage, text, dialect);
      const last = storedOf(await target.getSession(key));
      must(isSameJson(after.events, last?.events), 'Other sessions do not change.', last);
      await Promise.all([source.close(), target.close()]);
    },
  ),
  1000,
);

/** Imports the file under another id, with a changed member or a truncated text. */
async function importDamaged(
  service: SessionService,
  damage: Damage | { readonly cut: number },
  text: string,
  { timeUnit }: Dialect,
): Promise<void> {
  const options = { timeUnit, ...key, sessionId: 'damaged' };
  const file =
    'cut' in damage ? text.slice(0, damage.cut % text.length) : (JSON.parse(text) as SessionFile);
  if (typeof file === 'object' && !('cut' in damage)) damageIn(file, damage);
  const outcome = await outcomeOf(() => importSession(service, file, options));
  requireTypedError(outcome);
  const stored = await service.getSession({ ...key, sessionId: 'damaged' });
  must(outcome.isDone === (stored !== undefined), 'A refused file leaves no session.', stored);
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
