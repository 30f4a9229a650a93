import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { InMemorySessionService, isSessionError, type Session } from 'adk-session-wasm';
import { entriesOf } from './display/changes.js';
import { Narration } from './display/narration.js';
import { Printer } from './display/printing.js';
import { readSessionFile } from './session_file.js';

/**
 * Appends the events of a recorded session to a new one, and prints the changes of each.
 *
 * @throws Error with a message of one sentence if the file is not a session
 */
export async function replay(path: string): Promise<void> {
  const recorded = await readSessionFile(path);
  const { appName, userId, events } = recorded;
  // Collected first: nothing is printed if the file is invalid at its end.
  const output: string[] = [];
  const authors = events.map(({ author = '' }) => author);
  const printer = Printer.forStdout(authors, (text) => void output.push(text));
  const service = new InMemorySessionService();
  const session = await service.createSession({
    appName,
    userId,
    sessionId: recorded.id,
    state: stateBefore(recorded),
  });
  printer.paragraph(
    `${basename(path)}: session ${session.id} of ${userId} with ${appName}, ${events.length} events from ${time(events[0]?.timestamp)} on.`,
  );
  printer.paragraph(
    'Changes of state: + set, ~ changed, − removed, by scope: session, user:, app:, temp:.',
  );
  printer.heading('before the first event');
  printer.state('state', 'stored', entriesOf(session.state));

  const narration = new Narration(printer);
  narration.begin(session.state);
  let turns = 0;
  for (const [at, event] of events.entries()) {
    if (at === 0 || event.invocationId !== events[at - 1]?.invocationId) {
      turns += 1;
      printer.heading(`turn ${turns} · ${time(event.timestamp)}`);
    }
    narration.showEvent(event);
    try {
      await service.appendEvent({ session, event });
    } catch (error) {
      if (!isSessionError(error)) throw error;
      throw new Error(`event ${at + 1} is refused: ${error.message}`, { cause: error });
    }
    if (event.invocationId === events[at + 1]?.invocationId) continue;
    const stored = await service.getSession({ appName, userId, sessionId: session.id });
    narration.endTurn(stored?.state ?? {});
  }
  await summarize(service, session, recorded, printer);
  await service.close();
  process.stdout.write(output.join(''));
}

/** Returns the keys of a recorded state that none of its events changes. */
function stateBefore({ state, events }: Session): Session['state'] {
  const changed = new Set(events.flatMap(({ actions }) => Object.keys(actions.stateDelta)));
  return Object.fromEntries(Object.entries(state).filter(([key]) => !changed.has(key)));
}

async function summarize(
  service: InMemorySessionService,
  { id: sessionId, appName, userId }: Session,
  recorded: Session,
  printer: Printer,
): Promise<void> {
  printer.heading('in the end');
  const stored = await service.getSession({ appName, userId, sessionId });
  if (stored === undefined) return;
  printer.step('stored', 'events', `${stored.events.length} of ${recorded.events.length}`);
  printer.state('stored', 'state', entriesOf(stored.state));
  const recordedEntries = entriesOf(recorded.state).filter(({ scope }) => scope !== 'temp');
  const isSame = isDeepStrictEqual(entriesOf(stored.state), recordedEntries);
  printer.step('recorded', 'state', isSame ? 'the same' : 'another');
  const isWithoutTemp = !JSON.stringify(stored).includes('"temp:');
  printer.step(
    'temp:',
    isWithoutTemp ? 'gone' : 'KEPT',
    'in no stored state, and in no stored event',
  );
}

function time(timestamp: number | undefined): string {
  if (timestamp === undefined) return 'an unknown time';
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : `${date.toISOString().slice(0, 19)}Z`;
}
