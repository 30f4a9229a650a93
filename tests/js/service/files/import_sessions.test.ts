import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';

import {
  exportSessions,
  importSessions,
  type LinesSource,
} from '../../../../js/service/files/index.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { failure } from '../fixture.js';
import { fill, ids, imported, linesOf, SHOP, whole } from './streams.js';

describe('A stream that is imported', () => {
  it('can arrive in any chunks, as text or bytes, from any kind of source', async () => {
    const service = new InMemorySessionService();
    const userId = 'ünïcödé 😀';
    await fill(service, userId, ids(2));
    const text = (await linesOf(service, SHOP)).join('');
    const bytes = new TextEncoder().encode(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
      bytes.slice(at * 7, at * 7 + 7),
    );
    const sources: Record<string, LinesSource> = {
      text,
      'with \\r\\n and blank lines': text.replaceAll('\n', '\r\n\r\n'),
      'without the last end of line': text.trimEnd(),
      'an array of text': [text.slice(0, 100), text.slice(100)],
      'bytes cut within characters': pieces,
      'a stream of Node': Readable.from(pieces),
      'a web stream': new Blob([bytes]).stream(),
      'a web stream that cannot be iterated': notIterable(new Blob([bytes]).stream()),
    };
    for (const [name, source] of Object.entries(sources)) {
      const copy = new InMemorySessionService();
      await imported(copy, source);
      assert.deepEqual(await whole(copy), await whole(service), name);
    }
  });

  it('reports the outcome of each line, and continues after a line that fails', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ['s0']);
    const session = (id: string, more: object = {}): string =>
      JSON.stringify({ id, ...SHOP, userId: 'ada', events: [], ...more });
    const lines = [
      session('new'),
      '{"id":',
      session('s0'),
      '[]',
      session('bad', { events: [{ id: 'e' }] }),
      JSON.stringify({ ...SHOP, userId: 'ada', userState: 7 }),
      session('last'),
    ];
    const outcomes = await imported(service, lines.join('\n'));
    assert.deepEqual(
      outcomes.map(({ line, kind, sessionId, error }) => [line, kind, sessionId, error?.code]),
      [
        [1, 'session', 'new', undefined],
        [2, 'session', undefined, 'invalid_argument'],
        [3, 'session', 's0', 'already_exists'],
        [4, 'session', undefined, 'invalid_argument'],
        [5, 'session', 'bad', 'invalid_argument'],
        [6, 'userState', undefined, 'invalid_argument'],
        [7, 'session', 'last', undefined],
      ],
    );
    assert.equal(outcomes[4]?.error?.path, 'events[0].timestamp');
    assert.equal(outcomes[5]?.error?.path, 'userState');
    const { sessions } = await service.listSessions({ ...SHOP, userId: 'ada' });
    assert.deepEqual(new Set(sessions.map(({ id }) => id)), new Set(['s0', 'new', 'last']));
  });

  it('can hold plain sessions, one per line, each in its own dialect', async () => {
    const service = new InMemorySessionService();
    const python = {
      id: 'p',
      app_name: 'shop',
      user_id: 'ada',
      events: [{ id: 'e', timestamp: 1.7e9 }],
    };
    const typeScript = {
      id: 't',
      ...SHOP,
      userId: 'ada',
      events: [{ id: 'e', timestamp: 1.7e12 }],
    };
    await imported(service, `${JSON.stringify(python)}\n${JSON.stringify(typeScript)}`);
    for (const sessionId of ['p', 't']) {
      const session = await service.getSession({ ...SHOP, userId: 'ada', sessionId });
      assert.equal(session?.events[0]?.timestamp, 1.7e12);
    }
  });

  it('has milliseconds after its header, also ambiguous ones', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(2));
    const copy = new InMemorySessionService();
    const outcomes = await imported(copy, exportSessions(service, SHOP));
    assert.deepEqual(
      outcomes.filter(({ error }) => error),
      [],
    );
    assert.deepEqual(await whole(copy), await whole(service));
  });

  it('sets the keys of users and app that the service lacks, wherever the sessions are', async () => {
    const source = new InMemorySessionService();
    await fill(source, 'ada', ids(2));
    const service = new InMemorySessionService();
    const user = { ...SHOP, userId: 'ada' };
    await service.updateState({ ...user, stateDelta: { 'user:of': 'mine' } });
    const outcomes = await imported(service, await linesOf(source, SHOP));
    assert.deepEqual(
      outcomes.filter(({ error }) => error),
      [],
    );
    assert.deepEqual(await service.getUserState(user), { of: 'mine' });
    assert.deepEqual(await service.getAppState(SHOP), { motd: 'hi\nthere\u2028' });
  });

  it('can be appended to another stream', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ['a']);
    await fill(service, 'bob', ['b']);
    const ofOne = async (userId: string): Promise<string> =>
      (await linesOf(service, { ...SHOP, userId })).join('');
    const copy = new InMemorySessionService();
    await imported(copy, (await ofOne('ada')) + (await ofOne('bob')));
    const { sessions } = await copy.listSessions(SHOP);
    assert.deepEqual(sessions.map(({ id }) => id).sort(), ['a', 'b']);
    assert.deepEqual(await copy.getUserState({ ...SHOP, userId: 'bob' }), { of: 'bob' });
  });

  it('is refused if a newer version has written it', async () => {
    const service = new InMemorySessionService();
    const header = '{"format":"adk-sessions","version":2}';
    const error = await failure(imported(service, header), 'unsupported');
    assert.match(error.message, /Update the package/);
  });

  it('ends with an error that is not caused by a line', async () => {
    const service = new InMemorySessionService();
    await fill(service, 'ada', ids(1));
    const text = (await linesOf(service, SHOP)).join('');
    const aborted = importSessions(service, text, { signal: AbortSignal.abort() });
    await failure(aborted.next(), 'aborted');
    await failure(imported(service, [new Uint8Array([0xff])]), 'invalid_argument');
    await failure(imported(service, [7 as never]), 'invalid_argument');
    await service.close();
    await failure(imported(service, text), 'closed');
  });

  it('is released when the caller stops early', async () => {
    const service = new InMemorySessionService();
    let isCancelled = false;
    const stream = new ReadableStream<string>({
      pull: (controller) => controller.enqueue('{"appName":"shop","appState":{}}\n'),
      cancel: () => void (isCancelled = true),
    });
    for await (const { line } of importSessions(service, notIterable(stream)))
      if (line === 3) break;
    assert.ok(isCancelled);
  });
});

/** A stream without an async iterator, as in Safari. */
function notIterable<T>(stream: ReadableStream<T>): ReadableStream<T> {
  return { getReader: () => stream.getReader() } as ReadableStream<T>;
}
