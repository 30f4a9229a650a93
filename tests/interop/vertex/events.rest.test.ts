// Random events through Agent Engine: from the package to Python, and from Python to the package.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';

import { writeNames } from '../../../js/values/python/casing.js';
import { EVENT } from '../../../js/values/python/fields.js';
import { toSeconds, convertTimes } from '../../../js/values/python/time.js';
import {
  fromEventResource,
  toEventResource,
} from '../../../js/stores/vertex/events/event_resource.js';
import { hostileEvents, pythonEvents } from '../../js/stores/database/tables/arbitrary_events.js';
import { SESSION_EVENT } from '../../vertex_server/messages.js';
import { type Fields, parseMessage } from '../../vertex_server/proto_json.js';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { forPython } from '../for_python.js';
import { linesOfPython, type PythonSessions, startPythonSessions } from '../python.js';
import { PYTHON_KEY } from '../shared_session.js';

const COUNT = 2000;
/** Each run draws other events. A failure shows the event. */
const seed = Date.now() % 2 ** 31;
const POSTED_SECONDS = 1_700_000_000;

/** The event that the server stores and returns. */
function stored(resource: object): Fields {
  const given: unknown = JSON.parse(JSON.stringify(resource));
  const parsed = parseMessage(given, SESSION_EVENT, 'event', 'refused');
  return { name: 'sessions/s1/events/1', content: {}, actions: {}, ...parsed };
}

describe('Any event of the package', () => {
  let texts: string[] = [];
  let resources: Fields[] = [];
  before(() => {
    texts = fc
      .sample(hostileEvents, { numRuns: COUNT, seed })
      .map((event) => JSON.stringify(event));
    const posted = POSTED_SECONDS * 1_000_000;
    resources = texts.map((text) => stored(toEventResource(text, posted, undefined)));
  });

  it('is read by Python as intended', () => {
    const answers = linesOfPython('read_vertex_events.py', { lines: resources });
    assert.equal(answers.length, resources.length);
    for (const [at, answer] of answers.entries()) {
      const { event, error } = answer as { event?: Fields; error?: string };
      assert.equal(error, undefined, texts[at]);
      const { rawEvent, author } = resources[at] ?? {};
      // Python takes these fields from the resource.
      const meant = { ...(rawEvent as Fields), author, timestamp: POSTED_SECONDS };
      assert.deepEqual(forPython(event), forPython(meant), texts[at]);
    }
  });

  it('is read by the package exactly', () => {
    for (const [at, resource] of resources.entries()) {
      assert.equal(fromEventResource(resource).text, texts[at]);
    }
  });
});

describe('Any event of Python', { timeout: 120_000 }, () => {
  let python: PythonSessions;
  let server: VertexServer;
  before(async () => {
    python = startPythonSessions();
    // The API has no parts of other models, but Python sends them.
    server = await startVertexServer({ unknownNames: 'ignored' });
    await python.open(server.url);
  });
  after(async () => {
    await python.end();
    await server.end();
  });

  it('is read by the package unchanged', async () => {
    const events = fc
      .sample(pythonEvents, { numRuns: 300, seed })
      .filter(isPostable)
      // The server wants these.
      .map((event): Fields => ({ ...event, author: 'agent', invocationId: 'i' }));
    const given = events.map((event) => {
      const inSeconds = convertTimes(event, (time) => toSeconds(time as number));
      return writeNames(inSeconds, EVENT, 'snake');
    });
    await python.ask('create', PYTHON_KEY);
    for (const [at, event] of given.entries()) {
      const appended = await python.ask('append', event);
      assert.equal(appended.error, undefined, JSON.stringify([appended, events[at]]));
    }
    const byId = new Map(
      server
        .events('s1')
        .map((event) => fromEventResource(event))
        .map((event) => [event.id, event]),
    );
    for (const event of events) {
      const { text = '{}', timestamp } = byId.get(String(event.id)) ?? {};
      assert.equal(timestamp, event.timestamp);
      assert.deepEqual(forPython(JSON.parse(text)), forPython(asPosted(event)));
    }
  });
});

/** For what is partial there is no place, times end with the year 2242, and Python's client posts no text as a config. */
function isPostable({ partial, timestamp, actions }: Fields): boolean {
  const { requestedAuthConfigs = {} } = (actions ?? {}) as { requestedAuthConfigs?: Fields };
  const isText = Object.values(requestedAuthConfigs).some((config) => typeof config === 'string');
  return partial !== true && Number(timestamp) < 2 ** 33 * 1e3 && !isText;
}

/** Python leaves out what the API has no place for. */
function asPosted(event: Fields): Fields {
  const { content } = event as { content?: { parts?: Fields[] } };
  if (content?.parts === undefined) return event;
  const parts = content.parts.map((part) => {
    const { partMetadata, ...rest } = part;
    return partMetadata === undefined ? part : rest;
  });
  return { ...event, content: { ...content, parts } };
}
