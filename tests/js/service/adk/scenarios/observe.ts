import type { BaseSessionService } from '@google/adk';

import { type Framework, key, type Scenario } from './scenario.js';
import { Stage } from './stage.js';

/** The result of a scenario, as JSON that is equal in every run. */
export interface Observation {
  readonly saw: unknown;
  /** The scenario's sessions, read afterwards; `null` for a missing one. */
  readonly stored: readonly unknown[];
}

/** Plays a scenario on a service that holds nothing yet. */
export async function observe(
  scenario: Scenario,
  framework: Framework,
  sessionService: BaseSessionService,
): Promise<Observation> {
  const saw = await scenario.run(new Stage(framework, sessionService));
  const stored: unknown[] = [];
  // All that is stored, also what an agent does not get. The framework's own services know no views.
  const config: object = { view: 'raw' };
  for (const session of scenario.sessions ?? [key]) {
    stored.push((await sessionService.getSession({ ...session, config })) ?? null);
  }
  return withoutChance({ saw, stored });
}

const TIMES = new Set(['timestamp', 'lastUpdateTime', 'startTime', 'endTime']);
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const EVENT_ID = /^[A-Za-z0-9]{8}$/;

/** A copy with random ids replaced by numbers, and all times by one text. */
function withoutChance(observation: Observation): Observation {
  const eventIds = numbering('event');
  const uuids = numbering('uuid');
  const text = JSON.stringify(observation, (name, value: unknown) => {
    if (TIMES.has(name) && typeof value === 'number') return 'a time';
    const isEventId = name === 'id' && typeof value === 'string' && EVENT_ID.test(value);
    return isEventId ? eventIds(value) : value;
  });
  // In the text, as some are the names of members.
  return JSON.parse(text.replace(UUID, uuids)) as Observation;
}

function numbering(what: string): (id: string) => string {
  const names = new Map<string, string>();
  return (id) => {
    const name = names.get(id) ?? `${what}-${names.size + 1}`;
    names.set(id, name);
    return name;
  };
}
