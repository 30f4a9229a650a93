import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { InMemorySessionService, type Session } from 'adk-session-wasm';
import { sessionFromFile } from 'adk-session-wasm/files';
import { heading, line, showEvent, showState } from './printing.js';

/**
 * Appends the events of a recorded session to a new one, and prints the changes of each.
 *
 * @throws Error if the file is missing; SessionError if it is no session
 */
export async function replay(path: string): Promise<void> {
  const recorded = sessionFromFile(await readFile(path, 'utf8'));
  const { id: sessionId, appName, userId, events } = recorded;
  const service = new InMemorySessionService();
  const state = stateBefore(recorded);
  const session = await service.createSession({ appName, userId, sessionId, state });
  heading(basename(path));
  line('session', 'is', `${sessionId} of ${userId} with ${appName}`);
  showState('state', 'before', session.state);

  for (const [at, event] of events.entries()) {
    if (event.invocationId !== events[at - 1]?.invocationId) {
      heading(`${new Date(event.timestamp).toISOString().slice(0, 19)}Z`);
    }
    // The append removes the temp: keys.
    showEvent(event);
    await service.appendEvent({ session, event });
  }
  heading('in the end');
  const stored = await service.getSession({ appName, userId, sessionId });
  line('stored', 'events', `${stored?.events.length} of ${events.length}`);
  showState('stored', 'state', stored?.state ?? {});
  const isSame = isDeepStrictEqual({ ...stored?.state }, { ...recorded.state });
  line('recorded', 'state', isSame ? 'the same' : 'another');
  await service.close();
}

/** Returns the keys of a recorded state that none of its events changes. */
function stateBefore({ state, events }: Session): Session['state'] {
  const changed = new Set(events.flatMap(({ actions }) => Object.keys(actions.stateDelta)));
  return Object.fromEntries(Object.entries(state).filter(([key]) => !changed.has(key)));
}
