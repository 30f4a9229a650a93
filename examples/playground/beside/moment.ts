// What the agents knew and were told at an event of a conversation.

import { type Event, State } from 'adk-session-wasm';
import { stateAt } from 'adk-session-wasm/history';
import type { LiveSession, LiveSessionSnapshot } from 'adk-session-wasm/live';
import { agentsOf, type ToldAgent } from '../agents/houses.js';
import { sessions } from '../page/sessions.js';
import { currentSettings } from '../page/settings.js';

type Values = Readonly<Record<string, unknown>>;

/** A key that the turn has changed, and its value before, as far as the shown events tell. */
export interface Change {
  readonly before: unknown;
}

/** A moment of a conversation. */
export interface Moment {
  /** The state right after the event, with prefixes. */
  readonly state: Values;
  /** The keys that the event's turn has changed so far. */
  readonly changes: ReadonlyMap<string, Change>;
  /** Whether an agent wrote the event. */
  readonly isAnswer: boolean;
  /** The agent that wrote the event, or that answers next. */
  readonly agent: ToldAgent | undefined;
  /** The state that the agent's instruction is rendered with. It has the `temp:` keys that other agents left it. */
  readonly told: Values;
}

/**
 * Returns the moment right after an event.
 *
 * @param position the index of the event among those of the snapshot; the last one is now
 */
export async function momentAt(
  chat: LiveSession,
  { events, state }: LiveSessionSnapshot,
  position: number,
): Promise<Moment> {
  const event = events[position];
  const turn = events.slice(0, position + 1).filter(({ invocationId }) => invocationId === event?.invocationId); // prettier-ignore
  const agents = agentsOf(new Set(turn.map(({ author = 'user' }) => author)), currentSettings().engine); // prettier-ignore
  const isAnswer = event !== undefined && event.author !== 'user';
  const agent = isAnswer ? agents.find(({ name }) => name === event.author) : agents[0];
  const stateAfter = async (index: number): Promise<Values> => {
    if (events.length === 0) return { ...state, ...(await statesOfOthers(chat)) };
    if (index >= events.length - 1) return state;
    return { ...(await ownState(chat, events[index])), ...sharedState(events, state, index) };
  };
  const after = await stateAfter(position);
  // A model was told the state before its answer.
  const told = isAnswer ? await stateAfter(position - 1) : after;
  return {
    state: after,
    changes: changesOf(events, turn, position),
    isAnswer,
    agent,
    told: { ...told, ...leftByAgents(isAnswer ? turn.slice(0, -1) : turn, agents) },
  };
}

/** Returns the state of the app and the user, which a new conversation begins with. */
async function statesOfOthers({ key }: LiveSession): Promise<Values> {
  const service = await sessions;
  const [app, user] = await Promise.all([service.getAppState(key), service.getUserState(key)]);
  const named = (prefix: string, state: object): [string, unknown][] =>
    Object.entries(state).map(([name, value]) => [prefix + name, value]);
  return Object.fromEntries([...named(State.APP_PREFIX, app), ...named(State.USER_PREFIX, user)]);
}

/** The session's own keys right after an event; none before the first one. */
async function ownState(chat: LiveSession, event: Event | undefined): Promise<Values> {
  if (event === undefined) return {};
  return (await stateAt(await sessions, { ...chat.key, eventId: event.id })).state;
}

/**
 * Returns the `user:` and `app:` keys after an event, as far as this conversation tells: others may have changed them.
 */
function sharedState(events: readonly Event[], now: Values, index: number): Values {
  const isShared = (key: string): boolean => /^(?:user|app):/.test(key);
  const changed = new Set(events.flatMap((event) => Object.keys(deltaOf(event))));
  const untouched = Object.entries(now).filter(([key]) => isShared(key) && !changed.has(key));
  const deltas = events.slice(0, index + 1).flatMap((event) => Object.entries(deltaOf(event)));
  const set = new Map(deltas.filter(([key]) => isShared(key)));
  return Object.fromEntries([...untouched, ...set].filter(([, value]) => !isRemoved(value)));
}

function changesOf(
  events: readonly Event[],
  turn: readonly Event[],
  position: number,
): Map<string, Change> {
  const start = events.findIndex(({ id }) => id === turn[0]?.id);
  const earlier = new Map(
    events.slice(0, Math.min(start, position)).flatMap((event) => Object.entries(deltaOf(event))),
  );
  const keys = turn.flatMap((event) => Object.keys(deltaOf(event)));
  return new Map(keys.map((key) => [key, { before: earlier.get(key) }]));
}

/** The `temp:` keys that the output of a turn's agents has set. No storage has them. */
function leftByAgents(turn: readonly Event[], agents: readonly ToldAgent[]): Values {
  const left = agents.flatMap(({ name, outputKey }) => {
    if (outputKey?.startsWith('temp:') !== true) return [];
    const texts = turn
      .filter(({ author }) => author === name)
      .map(({ content }) => content?.parts?.map(({ text = '' }) => text).join('') ?? '');
    const last = texts.findLast((text) => text !== '');
    return last === undefined ? [] : [[outputKey, last] as const];
  });
  return Object.fromEntries(left);
}

function deltaOf(event: Event): Values {
  return event.actions?.stateDelta ?? {};
}

/** Returns whether a value of a delta removes its key. */
export function isRemoved(value: unknown): boolean {
  return value === undefined || value === State.REMOVED;
}
