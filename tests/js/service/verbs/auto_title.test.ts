// Titles from the first user message: how they are cut, and which messages give none.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { wholeStorage } from '../whole_storage.js';
import {
  type Event,
  InMemorySessionService,
  openSessionService,
  type Part,
  type SessionServiceOptions,
} from '../../../../js/index.js';
import { failure, KEY, overStorages, says, stored } from '../fixture.js';

async function titleFrom(...parts: Part[]): Promise<string | undefined> {
  const service = new InMemorySessionService({ autoTitle: true });
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: { ...says(''), content: { parts } } });
  const again = await stored(service);
  return Object.hasOwn(again, 'title') ? again.title : undefined;
}

describe('A title from a message', () => {
  const cuts: [why: string, text: string, title: string | undefined][] = [
    ['a short one stays', 'Which tea?', 'Which tea?'],
    ['60 characters stay', 'x'.repeat(60), 'x'.repeat(60)],
    ['it ends with a word', `${'word '.repeat(11)}boundary here`, 'word '.repeat(11).trim()],
    ['a long first word is cut', 'x'.repeat(61), 'x'.repeat(60)],
    ['no grapheme is split', '👨‍👩‍👧‍👦'.repeat(9), '👨‍👩‍👧‍👦'.repeat(8)],
    ['a grapheme that is too long gives none', `e${'\u0301'.repeat(80)}`, undefined],
    ['words of a script without spaces', '今日は良い天気ですね'.repeat(8), undefined],
    ['white space and control characters', ' \n a\t\u0007 b\n\nc ', 'a b c'],
    ['nothing but white space gives none', ' \n\t', undefined],
    ['a lone surrogate is left out', 'a\ud800b', 'a\ufffdb'],
    ['much white space ahead', `${' '.repeat(5000)}tea`, 'tea'],
  ];
  for (const [why, text, expected] of cuts) {
    it(`${why}`, async () => {
      const title = await titleFrom({ text });
      if (why.startsWith('words of')) {
        assert.ok(text.startsWith(title!) && [...title!].length <= 60 && [...title!].length > 50);
      } else {
        assert.equal(title, expected);
      }
    });
  }

  it('has the texts of all parts, and no thoughts', async () => {
    const parts = [
      { text: 'Look:' },
      { inlineData: {} },
      { text: 'hm', thought: true },
      { text: 'tea' },
    ];
    assert.equal(await titleFrom(...parts), 'Look: tea');
  });
});

overStorages('autoTitle', (open) => {
  it('is off by default', async () => {
    const service = await open();
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('Tea?') });
    assert.equal((await stored(service)).title, undefined);
  });

  it('takes the message as it was at the call', async () => {
    const service = await open({ autoTitle: true });
    const session = await service.createSession(KEY);
    const event: Event = says('Tea?');
    const appended = service.appendEvent({ session, event });
    event.content = { parts: [{ text: 'Cake?' }] };
    await appended;
    assert.equal((await stored(service)).title, 'Tea?');
  });

  it('gives a title in a group of appends', async () => {
    const service = await open({ autoTitle: true });
    const keys = ['a', 'b', 'c'].map((sessionId) => ({ ...KEY, sessionId }));
    const sessions = await Promise.all(keys.map((key) => service.createSession(key)));
    const calls = sessions.flatMap((session) => [
      service.appendEvent({ session, event: { ...says('no'), author: 'agent' } }),
      service.appendEvent({ session, event: says(`of ${session.id}`) }),
      service.appendEvent({ session, event: says('later') }),
    ]);
    await Promise.all(calls);
    const titles = await Promise.all(keys.map(async (key) => (await stored(service, key)).title));
    assert.deepEqual(titles, ['of a', 'of b', 'of c']);
  });

  it('sets nothing when the append is refused or was stored before', async () => {
    const service = await open({ autoTitle: true });
    const session = await service.createSession(KEY);
    const event = says('Tea?');
    const refused = { session, event, expectedRevision: 999_999_999_999_999 };
    await failure(service.appendEvent(refused), 'stale_session');
    assert.equal((await stored(service)).title, undefined);
    await service.appendEvent({ session, event });
    await service.updateSession(KEY, { title: null });
    await service.appendEvent({ session: await stored(service), event });
    assert.equal((await stored(service)).title, undefined);
  });
});

describe('autoTitle', () => {
  it('must be a boolean', () => {
    const options = { autoTitle: 'yes' } as unknown as SessionServiceOptions;
    assert.throws(() => new InMemorySessionService(options), { code: 'invalid_argument' });
  });

  it('is unsupported over a storage without titles', async () => {
    const storage = { ...wholeStorage(), describe: undefined };
    const service = await openSessionService({ storage, autoTitle: true });
    const session = await service.createSession(KEY);
    await failure(service.appendEvent({ session, event: says('Tea?') }), 'unsupported');
    assert.deepEqual((await stored(service)).events, []);
  });

  it('is unsupported where the host cannot cut texts', () => {
    const { Segmenter } = Intl;
    Reflect.deleteProperty(Intl, 'Segmenter');
    try {
      assert.throws(() => new InMemorySessionService({ autoTitle: true }), { code: 'unsupported' });
    } finally {
      Object.defineProperty(Intl, 'Segmenter', {
        value: Segmenter,
        configurable: true,
        writable: true,
      });
    }
  });
});

describe('ttl and expireTime', () => {
  it('are unsupported where sessions do not expire', async () => {
    const service = new InMemorySessionService();
    const expiries = [{ ttl: '86400s' }, { expireTime: '2030-01-31T12:00:00Z' }];
    for (const expiry of expiries) {
      const created = await failure(service.createSession({ ...KEY, ...expiry }), 'unsupported');
      assert.match(created.message, /Only sessions on Vertex AI expire/);
      assert.equal(await service.getSession(KEY), undefined);
    }
    await service.createSession(KEY);
    for (const expiry of expiries) {
      await failure(service.updateSession(KEY, { title: 'Tea', ...expiry }), 'unsupported');
    }
    assert.equal((await stored(service)).title, undefined);
  });
});
