// The same messages to the real `adk api_server` and to our handler, whose agents and models do the same.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { feedEvents } from '../../js/server/fixture.js';
import { startApiServer } from '../api_server/api_server.js';
import { sqliteFiles } from '../database/shared_databases.js';
import { APP, type Replies, scriptOf, startScriptedAgents } from './scripted_agents.js';

/** An event, or the error at the end of a stream. */
export type Json = Record<string, unknown>;

/** How a run is asked for. */
export const MODES = ['/run_sse with partial events', '/run_sse', '/run'] as const;
export type Mode = (typeof MODES)[number];

export interface RunCase {
  readonly what: string;
  readonly replies: Replies;
  /** Members of the body. */
  readonly body?: Json;
  /** The number of events after which the client leaves. Default 1. */
  readonly leavesAfter?: number;
  /** The response to the question or the long-running call of the first run. */
  readonly answer?: Json;
  /** What the server of google-adk does in another way, by design of the framework or of this package. */
  readonly differences?: readonly Difference[];
}

/** A difference: it says what ours would be, given what theirs is. */
export interface Difference {
  readonly what: string;
  readonly ours: (theirs: Outcome, mode: Mode) => Outcome;
}

/** What a client sees of the runs of a case. */
export interface Outcome {
  /** The status and the events of each run. */
  readonly runs: readonly { readonly status: number; readonly events: readonly Json[] }[];
  /** The events of the session. */
  readonly stored: readonly Json[];
  readonly state: unknown;
}

/** What a client sees of a whole conversation: beside its runs the session as it was created and listed, and the end. */
interface Conversation extends Outcome {
  readonly created: Json;
  readonly listed: Json | undefined;
  /** The status of a session that is read after it was deleted. */
  readonly statusAfter: number;
}

export interface TwoServers {
  /** Compares the runs of a case. */
  compare(test: RunCase, mode: Mode): Promise<void>;
  /** Compares what one program of a client sees from the creation of a session to its deletion. */
  compareConversation(test: RunCase): Promise<void>;
  /** Compares what is stored when the client leaves during the run. */
  compareLeft(test: RunCase): Promise<void>;
  end(): Promise<void>;
}

export async function startTwoServers(): Promise<TwoServers> {
  const ours = await startScriptedAgents();
  const theirs = await startApiServer((await sqliteFiles()()).python);
  let sessions = 0;
  const on = async (
    run: (client: Client, text: string) => Promise<Outcome>,
    replies: Replies,
  ): Promise<Outcome[]> => {
    sessions += 1;
    const sessionId = `s${sessions}`;
    const outcomes: Outcome[] = [];
    for (const { url } of [ours, theirs]) {
      const client = new Client(url, sessionId);
      await client.create();
      const outcome = await run(client, scriptOf(replies));
      requireStored(outcome);
      outcomes.push(comparable(outcome));
    }
    return outcomes;
  };
  return {
    async compare({ replies, body = {}, answer, differences = [] }, mode) {
      const [actual, python] = await on(async (client, text) => {
        const first = await client.run(mode, { newMessage: userContent({ text }), ...body });
        if (answer === undefined) return client.outcome([first]);
        return client.outcome([first, await client.answer(mode, first.events, answer)]);
      }, replies);
      const expected = differences.reduce((outcome, { ours }) => ours(outcome, mode), python!);
      assert.deepEqual(actual, expected);
    },
    async compareConversation({ replies, answer, differences = [] }) {
      const text = scriptOf(replies);
      const [actual, python] = await Promise.all(
        [ours, theirs].map(({ url }) => converse(new Client(url, 'whole'), text, answer!)),
      );
      const mode = '/run_sse with partial events';
      const expected = differences.reduce(
        (seen, { ours }) => ({ ...seen, ...ours(seen, mode) }),
        python!,
      );
      assert.deepEqual(actual, expected);
    },
    async compareLeft({ replies, leavesAfter = 1, differences = [] }) {
      const [actual, python] = await on(async (client, text) => {
        await client.leave({ newMessage: userContent({ text }) }, leavesAfter);
        return client.outcome([]);
      }, replies);
      const mode = '/run_sse with partial events';
      const expected = differences.reduce((outcome, { ours }) => ours(outcome, mode), python!);
      assert.deepEqual(actual, expected);
    },
    async end() {
      await ours.end();
      await theirs.end();
    },
  };
}

/** A program of a client that knows the routes of `adk api_server`, and not which server it has. */
async function converse(client: Client, text: string, answer: Json): Promise<Conversation> {
  const created = await client.create({ topic: 'tea' });
  const mode = '/run_sse with partial events';
  const asked = await client.run(mode, { newMessage: userContent({ text }) });
  const confirmed = await client.answer(mode, asked.events, answer);
  const outcome = await client.outcome([asked, confirmed]);
  requireStored(outcome);
  const listed = await client.listed();
  const statusAfter = await client.delete();
  return comparable({ created, ...outcome, listed, statusAfter });
}

const userContent = (...parts: readonly Json[]) => ({ role: 'user', parts });

/** A client of one of the servers. */
class Client {
  readonly #url: string;
  readonly #ids: Json;
  readonly #sessions = `/apps/${APP}/users/ada/sessions`;
  readonly #session: string;

  constructor(url: string, sessionId: string) {
    this.#url = url;
    this.#ids = { appName: APP, userId: 'ada', sessionId };
    this.#session = `${this.#sessions}/${sessionId}`;
  }

  async create(state: Json = {}): Promise<Json> {
    const { sessionId } = this.#ids;
    const response = await this.#post(this.#sessions, { sessionId, state });
    assert.equal(response.status, 200);
    return (await response.json()) as Json;
  }

  /** Returns the session as the list of its user has it. */
  async listed(): Promise<Json | undefined> {
    const response = await fetch(this.#url + this.#sessions);
    const sessions = (await response.json()) as Json[];
    return sessions.find(({ id }) => id === this.#ids.sessionId);
  }

  /** Deletes the session. Returns the status of a request for it afterwards. */
  async delete(): Promise<number> {
    const response = await fetch(this.#url + this.#session, { method: 'DELETE' });
    assert.equal(response.status, 200);
    return (await fetch(this.#url + this.#session)).status;
  }

  /** Answers the calls that wait for the user. */
  answer(mode: Mode, asked: readonly Json[], response: Json): Promise<Outcome['runs'][number]> {
    const parts = questionsIn(asked).map(({ id, name }) => {
      return { functionResponse: { id, name, response } };
    });
    return this.run(mode, { newMessage: userContent(...parts) });
  }

  async run(mode: Mode, body: Json): Promise<Outcome['runs'][number]> {
    const [path = ''] = mode.split(' ');
    const streaming = mode === '/run_sse with partial events';
    const response = await this.#post(path, { ...this.#ids, ...body, streaming });
    const { status } = response;
    if (path === '/run') {
      const text = await response.text();
      return { status, events: status === 200 ? (JSON.parse(text) as Json[]) : [] };
    }
    assert.match(response.headers.get('content-type')!, /^text\/event-stream/);
    const events: Json[] = [];
    for await (const { data } of feedEvents(response)) events.push(data as Json);
    return { status, events };
  }

  /** Leaves when some events have come, and waits until the run has its end event. */
  async leave(body: Json, after: number): Promise<void> {
    const client = new AbortController();
    const asked = { ...this.#ids, ...body, streaming: true };
    const events = feedEvents(await this.#post('/run_sse', asked, client.signal));
    for (let count = 0; count < after; count += 1) await events.next();
    client.abort();
    for (;;) {
      const { stored } = await this.outcome([]);
      if (stored.some(({ errorCode }) => errorCode === 'INVOCATION_ABORTED')) return;
      await sleep(20);
    }
  }

  async outcome(runs: Outcome['runs']): Promise<Outcome> {
    const response = await fetch(this.#url + this.#session);
    const { events, state } = (await response.json()) as { events: Json[]; state: unknown };
    return { runs, stored: events, state };
  }

  #post(path: string, body: Json, signal?: AbortSignal): Promise<Response> {
    return fetch(this.#url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }
}

interface Call {
  readonly id: string;
  readonly name: string;
}

/** The calls that wait for the user. */
function questionsIn(events: readonly Json[]): Call[] {
  return events.flatMap(({ longRunningToolIds = [], content }) => {
    const { parts = [] } = (content ?? {}) as { parts?: { functionCall?: Call }[] };
    return parts.flatMap(({ functionCall }) =>
      functionCall && (longRunningToolIds as string[]).includes(functionCall.id)
        ? [functionCall]
        : [],
    );
  });
}

/** The events that are whole must be those that are stored, and the partial events must not. */
function requireStored({ runs, stored }: Outcome): void {
  const ids = stored.map(({ id }) => id);
  const wholes = runs.flatMap(({ events }) => events).filter(({ id, partial }) => id && !partial);
  assert.deepEqual(
    wholes.filter(({ id }) => !ids.includes(id)),
    [],
  );
  assert.equal(
    stored.find(({ partial }) => partial === true),
    undefined,
  );
}

/**
 * What the two servers have in common: without times, ids and `nodeInfo`, which Python alone writes. Calls have numbers
 * instead of ids. Members that say nothing are left out: of `longRunningToolIds: []` there is no rule in either framework.
 */
function comparable<Seen extends Outcome>(seen: Seen): Seen {
  const numbers = new Map<string, string>();
  const text = JSON.stringify(seen, (name, value: unknown) => {
    if (/^(timestamp|lastUpdateTime|id|invocationId|nodeInfo)$/.test(name) && !isCallId(value))
      return undefined;
    if (/^(longRunningToolIds|stateDelta|artifactDelta|requested\w+)$/.test(name)) {
      return Object.keys(value as object).length === 0 ? undefined : value;
    }
    return value;
  });
  const numbered = text
    .replaceAll(/adk-[\da-f-]{36}/g, (id) => {
      if (!numbers.has(id)) numbers.set(id, `call ${numbers.size}`);
      return numbers.get(id)!;
    })
    .replaceAll(/\\"number\\":\d+/g, '');
  return JSON.parse(numbered) as Seen;
}

const isCallId = (value: unknown): boolean => typeof value === 'string' && value.startsWith('adk-');
