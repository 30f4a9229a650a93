// What Google's adk-web asks while it shows files: its requests, in its order, to the real `adk api_server` and to our
// handler. The paths and headers are those of its services agent, session and artifact.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { createEventActions, InMemorySessionService } from '../../../js/index.js';
import { sessionHandler } from '../../../js/server/index.js';
import type { RunAgent } from '../../../js/ui/live/index.js';
import { sqliteFiles } from '../database/shared_databases.js';
import { ALL_RIGHTS } from '../../js/server/fixture.js';
import { type ApiServer, startApiServer } from './api_server.js';

const APP = 'script';
const SESSIONS = `/apps/${APP}/users/user/sessions`;
const PNG = 'iVBOR_-w';
/** A name as a person gives one, which adk-web does not encode. */
const NAME = 'charts/my chart ü.png';

/** The headers of Angular's `HttpClient`. */
const ANGULAR = { accept: 'application/json, text/plain, */*' };
/** Those of the `fetch` that streams. */
const STREAM = { accept: 'text/event-stream', 'content-type': 'application/json' };

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

interface WebEvent {
  readonly id: string;
  readonly author: string;
  readonly content?: {
    readonly parts: readonly {
      readonly text?: string;
      readonly inlineData?: { readonly data: string };
    }[];
  };
  readonly actions: { readonly artifactDelta: Readonly<Record<string, number>> };
}

/** Plays what adk-web does, and returns what it learns. */
async function play(fetch: Fetch): Promise<unknown[]> {
  const seen: unknown[] = [];
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(path, { headers: ANGULAR });
    const [type] = response.headers.get('content-type')?.split(';') ?? [];
    const body: unknown = await response.json();
    seen.push([response.status, type]);
    return body;
  };
  seen.push(await get('/list-apps?relative_path=./'));
  // A session of the button "New" has no body and no type, that of a first message has a state.
  const empty = await fetch(SESSIONS, { method: 'POST', headers: ANGULAR });
  const created = await fetch(SESSIONS, {
    method: 'POST',
    headers: { ...ANGULAR, 'content-type': 'application/json' },
    body: JSON.stringify({ state: { __session_metadata__: { displayName: 'first' } } }),
  });
  const { id } = (await created.json()) as { id: string };
  seen.push(empty.status, created.status, ((await get(SESSIONS)) as unknown[]).length);
  const artifacts = `${SESSIONS}/${id}/artifacts`;

  for (const text of ['first', 'second']) {
    const steps = [{ say: text, save: { [NAME]: PNG, 'user:note.txt': text } }];
    // A file that is attached is in the message.
    const inlineData = { displayName: 'tea.png', data: 'iVBOR/+w', mimeType: 'image/png' };
    const parts = [{ text: JSON.stringify(steps) }, { inlineData }];
    const newMessage = { role: 'user', parts };
    const asked = { appName: APP, userId: 'user', sessionId: id, newMessage, streaming: false };
    const body = JSON.stringify({ ...asked, stateDelta: null });
    const run = await fetch('/run_sse', { method: 'POST', headers: STREAM, body });
    const lines = (await run.text()).split(/\r?\n/).filter((line) => line.startsWith('data:'));
    const events = lines.map((line) => JSON.parse(line.replace(/^data:\s*/, '')) as WebEvent);
    seen.push(run.status, events.map(shown));
    // It asks for each file of each event, under the version of the event.
    for (const { actions } of events) {
      for (const [name, version] of Object.entries(actions.artifactDelta)) {
        seen.push(await get(`${artifacts}/${name}/versions/${version}`));
      }
    }
  }
  // Its sound player asks for the newest version.
  seen.push(await get(`${artifacts}/${NAME}`));
  // What the session is opened with, again with each file of each event.
  const session = (await get(`${SESSIONS}/${id}`)) as { events: readonly WebEvent[] };
  seen.push(session.events.map(shown));
  for (const { actions } of session.events) {
    for (const [name, version] of Object.entries(actions.artifactDelta)) {
      seen.push(await get(`${artifacts}/${name}/versions/${version}`));
    }
  }
  // Other clients of the server also ask for these.
  seen.push(await get(artifacts), await get(`${artifacts}/${NAME}/versions`));
  seen.push(await get(`${artifacts}/${NAME}/versions/latest`));
  for (const gone of [`${NAME}/versions/7`, 'none.png', 'none.png/versions/0']) {
    // The servers tell it in words of their own.
    const { detail } = (await get(`${artifacts}/${gone}`)) as { detail: unknown };
    seen.push(typeof detail);
  }
  const removed = await fetch(`${SESSIONS}/${id}`, { method: 'DELETE', headers: ANGULAR });
  return [...seen, removed.status];
}

/** It takes both alphabets of base64: Python changes what it stores, and the handler does not. */
const shown = ({ author, content, actions }: WebEvent): unknown => [
  author,
  content?.parts.map(({ text, inlineData }) => [
    text,
    inlineData && { ...inlineData, data: Buffer.from(inlineData.data, 'base64').toString('hex') },
  ]),
  actions.artifactDelta,
];

/** Does what the agent of tests/interop/python/agents/script does. */
function ownServer(): Fetch {
  const service = new InMemorySessionService({ artifacts: true });
  const run: RunAgent = async function* ({ message, appName, userId, sessionId }) {
    const key = { appName, userId, sessionId };
    const text = message.content?.parts?.[0]?.text ?? '';
    const steps = JSON.parse(text) as { say: string; save: Record<string, string> }[];
    for (const { say, save } of steps) {
      const artifactDelta: Record<string, number> = {};
      for (const [filename, data] of Object.entries(save)) {
        const artifact = filename.endsWith('.png')
          ? { inlineData: { mimeType: 'image/png', data } }
          : { text: data };
        const { artifacts } = service;
        artifactDelta[filename] = await artifacts.saveArtifact({ ...key, filename, artifact });
      }
      const actions = createEventActions({ artifactDelta });
      yield { author: APP, content: { role: 'model', parts: [{ text: say }] }, actions };
    }
  };
  const authorize = () => ALL_RIGHTS;
  const handler = sessionHandler(service, {
    authorize,
    run,
    apps: ['script', 'scripted', 'sequence', 'shop'],
  });
  return (path, init) => handler(new Request(`http://localhost${path}`, init));
}

describe('adk-web', { timeout: 120_000 }, () => {
  const newDatabase = sqliteFiles();
  let server: ApiServer;
  before(async () => {
    server = await startApiServer((await newDatabase()).python);
  });
  after(() => server.end());

  it('shows the files of a conversation over the handler as over adk api_server', async () => {
    const theirs = await play((path, init) => fetch(`${server.url}${path}`, init));
    assert.deepEqual(await play(ownServer()), theirs);
  });
});
