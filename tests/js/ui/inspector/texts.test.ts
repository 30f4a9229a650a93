import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, Template, InMemorySessionService } from '../../../../js/index.js';
import {
  changesOf,
  labelsText,
  listRequest,
  parseLabels,
  getSessions,
  searchIds,
  searchTexts,
} from '../../../../js/ui/inspector/sessions/session_filter.js';
import { distinctOf, kindOf, piecesOf } from '../../../../js/ui/inspector/template_editor.js';
import { summaryOf } from '../../../../js/ui/inspector/timeline/event_summary.js';
import { nextPosition } from '../../../../js/ui/inspector/view/hooks.js';
import { bytesText, clip, visibleText } from '../../../../js/ui/inspector/view/text.js';

describe('The highlighting of a template', () => {
  const pieces = (text: string) => piecesOf(text, new Template(text).placeholders);

  it('cuts the text at its placeholders and loses nothing', () => {
    for (const text of [
      '',
      'tea',
      '{a}',
      'Hi {user:name?}, {topic}!',
      '{a}{b}',
      '\\{a} {{b}} {"k": 1} 🍵{a}',
    ]) {
      assert.equal(
        pieces(text)
          .map((piece) => piece.text)
          .join(''),
        text,
      );
    }
    const marked = pieces('Hi {user:name?}, \\{no} {topic}!').filter((piece) => piece.placeholder);
    assert.deepEqual(
      marked.map(({ text }) => text),
      ['{user:name?}', '{topic}'],
    );
  });

  it('shows which placeholders have a value', () => {
    const { placeholders } = new Template('{topic} {mood?} {price} {artifact.list} {toString}');
    assert.deepEqual(
      placeholders.map((placeholder) => kindOf(placeholder, { topic: 'tea' })),
      ['set', 'empty', 'missing', 'artifact', 'missing'],
    );
  });
});

it('The list of placeholders shows a name with and without a question mark', () => {
  const { placeholders } = new Template('{mood?} {mood} {mood?} {user:name?}');
  const kinds = [...distinctOf(placeholders)].map(([text, found]) => [text, kindOf(found, {})]);
  assert.deepEqual(kinds, [
    ['mood?', 'empty'],
    ['mood', 'missing'],
    ['user:name?', 'empty'],
  ]);
});

describe('The summary of an event', () => {
  it('has the author, the text, the tools and the changed keys', () => {
    const event = createEvent({
      author: 'guide',
      content: {
        role: 'model',
        parts: [{ text: 'Let me look.' }, { functionCall: { name: 'find_tea', args: {} } }],
      },
      actions: { stateDelta: { topic: 'tea' } },
    });
    assert.deepEqual(summaryOf(event), {
      author: 'guide',
      text: 'Let me look.',
      tools: [{ kind: 'call', name: 'find_tea' }],
      changedKeys: ['topic'],
      error: undefined,
    });
  });

  it('accepts events that other programs wrote', () => {
    assert.equal(summaryOf({}).author, 'unknown');
    const odd = {
      content: { parts: 'tea' },
      errorCode: 500,
      errorMessage: 'boom',
    } as unknown as Parameters<typeof summaryOf>[0];
    assert.deepEqual([summaryOf(odd).text, summaryOf(odd).error], ['', 'boom']);
    for (const value of [null, 5, 'tea', [], [null], {}, { name: 5 }]) {
      const parts = [
        ...[value, { text: value }, { functionCall: value }, { functionResponse: value }],
        ...[{ inlineData: value }, { fileData: value }, { executableCode: value }],
      ];
      const members = {
        author: value,
        content: { parts },
        actions: value,
        errorCode: value,
        errorMessage: value,
      };
      const { author, text, tools, error } = summaryOf(members as Parameters<typeof summaryOf>[0]);
      for (const shown of [author, text, error ?? '', ...tools.map(({ name }) => name)]) {
        assert.equal(typeof shown, 'string');
      }
      assert.deepEqual(summaryOf({ content: value } as Parameters<typeof summaryOf>[0]).tools, []);
    }
    const text = 'x'.repeat(1_000_000);
    assert.equal(summaryOf(createEvent({ content: { parts: [{ text }] } })).text.length, 301);
  });
});

describe('The filter of sessions', () => {
  it('reads labels and writes them', () => {
    assert.deepEqual(parseLabels(' pinned=yes, topic=green=tea '), {
      pinned: 'yes',
      topic: 'green=tea',
    });
    assert.equal(labelsText({ pinned: 'yes', topic: 'tea' }), 'pinned=yes topic=tea');
    assert.throws(() => parseLabels('pinned'), /key=value/);
    const own = Object.entries(parseLabels('__proto__=x'));
    assert.deepEqual(own, [['__proto__', 'x']]);
  });

  it('changes only what was typed of a title and labels', () => {
    assert.deepEqual(changesOf('Tea', undefined), { title: 'Tea' });
    assert.deepEqual(changesOf(undefined, 'a=1'), { labels: { a: '1' } });
    assert.deepEqual(changesOf('', ''), { title: null, labels: null });
    assert.deepEqual(changesOf(undefined, undefined), {});
    assert.throws(() => changesOf('Tea', 'pinned'), SyntaxError);
  });

  it('asks only for what was typed', () => {
    const base = { appName: 'shop', limit: 50, stateKeys: [] };
    assert.deepEqual(listRequest('shop', '', { title: ' ', labels: '' }), base);
    assert.deepEqual(listRequest('shop', 'ada', { title: 'tea', labels: 'a=b' }), {
      ...base,
      userId: 'ada',
      title: 'tea',
      labels: { a: 'b' },
    });
  });

  it('finds sessions of a user by what was said', async () => {
    const service = new InMemorySessionService();
    const user = { appName: 'shop', userId: 'ada' };
    for (const sessionId of ['s1', 's2']) {
      const session = await service.createSession({ ...user, sessionId });
      const content = { parts: [{ text: `녹차 of ${sessionId}` }] };
      const event = { author: 'user', invocationId: 'i1', content };
      for (let count = 0; count < 2; count += 1)
        await service.appendEvent({ session, event: { ...event } });
    }
    const { signal } = new AbortController();
    const request = listRequest('shop', 'ada', { title: '', labels: '' });
    const { sessions, isComplete } = await searchTexts(service, request, '녹차 s2', signal);
    assert.deepEqual([sessions.map(({ id }) => id), isComplete], [['s2'], true]);
    const ofAll = listRequest('shop', '', { title: '', labels: '' });
    await assert.rejects(searchTexts(service, ofAll, '녹차', signal), /user/);
  });

  it('finds what was said by title too, reads no text again, and tells if one cannot be read', async () => {
    const service = new InMemorySessionService();
    const create = async (sessionId: string, title: string) => {
      const key = { appName: 'shop', userId: 'ada', sessionId, title };
      const session = await service.createSession(key);
      const event = createEvent({ author: 'user', content: { parts: [{ text: 'Tea' }] } });
      await service.appendEvent({ session, event });
    };
    for (const title of ['Green leaves', 'Black']) await create(title, title);
    const indexed: string[] = [];
    const { getSession } = service;
    service.getSession = (given) => {
      if (given.config?.view === 'raw') indexed.push(given.sessionId);
      if (given.sessionId === 'damaged') throw new Error('It is damaged.');
      return getSession.call(service, given);
    };
    const { signal } = new AbortController();
    const find = async (title: string) => {
      const request = listRequest('shop', 'ada', { title, labels: '' });
      const { sessions, isComplete } = await searchTexts(service, request, 'tea', signal);
      return [sessions.map(({ id }) => id).sort(), isComplete];
    };
    assert.deepEqual(await find(''), [['Black', 'Green leaves'], true]);
    assert.deepEqual(await find('GREEN'), [['Green leaves'], true]);
    assert.equal(indexed.length, 2);
    await create('damaged', 'Green');
    assert.deepEqual(await find('green'), [['Green leaves'], false]);
  });

  it('finds sessions by a part of their id, on later pages too', async () => {
    const service = new InMemorySessionService();
    for (let number = 0; number < 700; number += 1) {
      const sessionId = number === 3 ? 'needle' : `s${number}`;
      await service.createSession({ appName: 'shop', userId: 'ada', sessionId });
    }
    const request = listRequest('shop', '', { title: '', labels: '' });
    const { signal } = new AbortController();
    const found = await searchIds(service, request, 'eedl', signal);
    assert.deepEqual(
      found.map(({ id }) => id),
      ['needle'],
    );
    assert.equal((await searchIds(service, request, 's', signal)).length, 50);
  });

  it('finds a session by its whole id without a list', async () => {
    const service = new InMemorySessionService();
    const { signal } = new AbortController();
    for (const userId of ['ada', 'eva'])
      await service.createSession({ appName: 'shop', userId, sessionId: 's1' });
    const find = async (user: string, users: string[], sessionId: string, title = '') => {
      const request = listRequest('shop', user, { title, labels: '' });
      const found = await getSessions(service, request, users, sessionId, signal);
      return found.map(({ userId, id }) => `${userId}/${id}`);
    };
    assert.deepEqual(await find('ada', [], 's1'), ['ada/s1']);
    assert.deepEqual(await find('', ['bob', 'ada', 'eva'], 's1'), ['ada/s1', 'eva/s1']);
    assert.deepEqual(await find('ada', [], 's'), []);
    assert.deepEqual(await find('ada', [], 's1', 'tea'), []);
  });
});

describe('Texts for people', () => {
  it('write out marks that turn the direction of a text', () => {
    assert.equal(visibleText('a\u202Eb\u0000c\td\n\u2066'), 'a\\u202eb\\u0000c\td\n\\u2066');
    assert.equal(visibleText('שלום 👩‍🍳'), 'שלום 👩‍🍳');
  });

  it('are cut, and sizes have a unit', () => {
    assert.equal(clip('green tea', 5), 'green…');
    assert.deepEqual([0, 512, 2048, 5 * 2 ** 20].map(bytesText), [
      '0 bytes',
      '512 bytes',
      '2.0 KB',
      '5.0 MB',
    ]);
  });
});

it('The keys of a list move within it', () => {
  const move = (key: string, position: number) => nextPosition(key, position, 10, 4);
  assert.deepEqual(
    [
      move('ArrowDown', 3),
      move('ArrowDown', 9),
      move('ArrowUp', 0),
      move('PageDown', 3),
      move('PageUp', 3),
      move('Home', 5),
      move('End', 5),
      move('a', 5),
      nextPosition('End', -1, 0, 4),
    ],
    [4, 9, 0, 7, 0, 0, 9, undefined, undefined],
  );
});
