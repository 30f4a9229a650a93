import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { InMemorySessionService, openSessionService } from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { sessionSearch } from '../../../../js/service/search/index.js';
import { snippetOf } from '../../../../js/service/search/snippet.js';
import { isWellFormed } from '../../../../js/values/json/text.js';
import { fold, needlesOf, wordsOf } from '../../../../js/values/words.js';
import { USER, says } from '../fixture.js';
import { wholeStorage } from '../whole_storage.js';

const file = new URL('../../../vectors/searches.json', import.meta.url);
const { texts, queries } = JSON.parse(readFileSync(file, 'utf8')) as {
  texts: Record<string, string>;
  queries: { query: string; finds: string[] }[];
};

const services = {
  memory: () => new InMemorySessionService(),
  'the storage of the examples': () => openSessionService({ storage: wholeStorage() }),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
};

for (const [name, open] of Object.entries(services)) {
  describe(`Queries in five languages over ${name}`, () => {
    it('find the same texts, as a message and as a title', async () => {
      const said = await open();
      const titled = await open();
      for (const [sessionId, text] of Object.entries(texts)) {
        const session = await said.createSession({ ...USER, sessionId });
        await said.appendEvent({ session, event: says(text) });
        await titled.createSession({ ...USER, sessionId, title: text });
      }
      const searches = [sessionSearch(said), sessionSearch(titled)];
      for (const { query, finds } of queries) {
        for (const search of searches) {
          const { hits, isComplete } = await search.find({ ...USER, query });
          assert.deepEqual(hits.map(({ sessionId }) => sessionId).sort(), finds, query);
          assert.ok(isComplete);
          assert.ok(hits.every(({ snippet }) => snippet.some(({ isHit }) => isHit)));
        }
        const { sessions } = await titled.listSessions({ ...USER, title: query });
        assert.deepEqual(sessions.map(({ id }) => id).sort(), finds, `title: ${query}`);
      }
      await said.close();
      await titled.close();
    });
  });
}

describe('Words', () => {
  it('are the same whether their letters are composed, wide, capital or marked', () => {
    const words = ' 각 ガイド cafe strasse λογοσ';
    for (const text of ['각 ガイド Café Straße λόγος', '각 ｶﾞｲﾄﾞ ＣＡＦÉ STRASSE ΛΌΓΟΣ']) {
      assert.equal(wordsOf(text), words);
      assert.equal(wordsOf(text.normalize('NFD')), words);
    }
  });

  it('keep the vowel signs of Hindi and Thai and the sound marks of Kana, and lose those of Arabic', () => {
    assert.equal(wordsOf('हिन्दी ที่ が'), ' हिन्दी ที่ が');
    assert.equal(wordsOf('كِتَاب'), wordsOf('كتاب'));
  });

  it('of a text that is folded sign by sign are those of the whole text', () => {
    for (const text of Object.values(texts)) {
      assert.equal([...text.normalize('NFC')].map(fold).join(''), fold(text));
    }
  });

  it('of a query are found at the beginning of words, in unspaced scripts anywhere, and phrases as they stand', () => {
    assert.deepEqual(needlesOf('tea "green tea" 녹차 „T恤“ "" _%'), [
      ' tea',
      ' green tea',
      '녹차',
      ' t 恤',
    ]);
    assert.deepEqual(needlesOf('🍵 %_"'), []);
  });
});

describe('A snippet', () => {
  const shown = (text: string, query: string): string =>
    snippetOf(text, needlesOf(query))
      .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
      .join('');

  it('has the text as it was written, with all hits', () => {
    assert.equal(shown('Ist GRÜNER Tee grün?', 'grun tee'), 'Ist [GRÜN]ER [Tee] [grün]?');
    assert.equal(shown('녹차를 추천', '녹차'.normalize('NFD')), '[녹차]를 추천');
    assert.equal(shown('ｶﾞｲﾄﾞ', 'ガイ'), '[ｶﾞｲ]ﾄﾞ');
    assert.equal(shown('Cafe\u0301s', 'cafe'), '[Cafe\u0301]s');
    assert.equal(shown('緑茶葉', '緑茶 茶葉'), '[緑茶][葉]');
  });

  it('of a long text is the piece around the first hit, and cuts no character', () => {
    const text = `${'🍵'.repeat(9000)} green tea ${'🍵'.repeat(9000)}`;
    const snippet = shown(text, 'tea green');
    assert.match(snippet, /^…🍵+ \[green\] \[tea\] 🍵+…$/u);
    assert.ok(snippet.length < 220 && isWellFormed(snippet));
  });
});
