import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, openSessionService } from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { hasAllInTurns } from '../../../../js/service/search/event_words.js';
import { Pauses } from '../../../../js/service/search/pauses.js';
import { snippetOf } from '../../../../js/service/search/snippet.js';
import { isWellFormed } from '../../../../js/values/json/text.js';
import { fold, needlesOf, wordsOf } from '../../../../js/values/words.js';
import { failsWith } from '../../fails_with.js';
import { requireSearches, TEXTS } from './searches.js';
import { wholeStorage } from '../whole_storage.js';

const services = {
  memory: () => new InMemorySessionService(),
  'the storage of the examples': () => openSessionService({ storage: wholeStorage() }),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
};

describe('Queries in five languages find the same texts, as messages and as titles,', () => {
  for (const [name, open] of Object.entries(services)) {
    it(`over ${name}`, async () => requireSearches(await open()));
  }
});

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
    for (const text of TEXTS) {
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
  const shown = async (text: string, query: string): Promise<string> => {
    const parts = await snippetOf(text, needlesOf(query), new Pauses());
    return parts.map(({ text, isHit }) => (isHit ? `[${text}]` : text)).join('');
  };

  it('has the text as it was written, with all hits', async () => {
    assert.equal(await shown('Ist GRÜNER Tee grün?', 'grun tee'), 'Ist [GRÜN]ER [Tee] [grün]?');
    assert.equal(await shown('녹차를 추천', '녹차'.normalize('NFD')), '[녹차]를 추천');
    assert.equal(await shown('ｶﾞｲﾄﾞ', 'ガイ'), '[ｶﾞｲ]ﾄﾞ');
    assert.equal(await shown('Cafe\u0301s', 'cafe'), '[Cafe\u0301]s');
    assert.equal(await shown('緑茶葉', '緑茶 茶葉'), '[緑茶][葉]');
  });

  it('of a long text is the piece around the first hit, and cuts no character', async () => {
    const text = `${'🍵'.repeat(9000)} green tea ${'🍵'.repeat(9000)}`;
    const snippet = await shown(text, 'tea green');
    assert.match(snippet, /^…🍵+ \[green\] \[tea\] 🍵+…$/u);
    assert.ok(snippet.length < 220 && isWellFormed(snippet));
  });

  it('finds a hit far in a text, in scripts with blanks and without, and none within a word', async () => {
    for (let length = 6130; length < 6160; length += 1) {
      assert.match(
        await shown(`${'x'.repeat(length)} green tea`, 'green tea'),
        /\[green\] \[tea\]$/,
      );
      assert.match(await shown(`${'ภ'.repeat(length)}茶`, '茶'), /\[茶\]$/);
    }
    assert.doesNotMatch(await shown(`${'x'.repeat(4096)}tea ${'y '.repeat(9000)}`, 'tea'), /\[/);
  });

  it('looks for words in a window of a long text at once, also if no separator is in it', async (t) => {
    const { exec } = RegExp.prototype;
    t.after(() => (RegExp.prototype.exec = exec));
    let longest = 0;
    RegExp.prototype.exec = function (input) {
      longest = Math.max(longest, input.length);
      return exec.call(this, input);
    };
    assert.match(await shown(`${'ภ'.repeat(20_000)}茶`, '茶'), /\[茶\]$/);
    assert.ok(longest > 0 && longest < 10_000, `${longest}`);
  });

  it('of a long text is given up at the end of the search', async () => {
    const pauses = new Pauses(AbortSignal.abort());
    const text = `${'x '.repeat(100_000)} tea`;
    await assert.rejects(snippetOf(text, needlesOf('tea'), pauses), failsWith('aborted'));
    await assert.rejects(hasAllInTurns(text, needlesOf('tea'), pauses), failsWith('aborted'));
  });
});
