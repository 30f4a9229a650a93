import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  fold,
  matchWords,
  needlesOf,
  signsOf,
  wordPieces,
  wordsOf,
} from '../../../js/values/words.js';
import { randomNumbers } from '../service/read/list_model.js';

/** Yields all code points that a text may have, in lines. */
function* codePoints(): Generator<string> {
  for (let start = 0; start < 0x110000; start += 0x800) {
    if (start === 0xd800) continue;
    const points = Array.from({ length: 0x800 }, (_, at) => String.fromCodePoint(start + at));
    yield points.join('\n');
  }
}

const SIGNS = [
  ...'aßẞΣİ가각ㄱㅏﾡￂｶﾞかがकिﷺشلא .\u0e33\u05b0\u0301\u0323\u3099\u0345\u200b\u00ad\u1161\u11a8\ufe71\ufcf2\u093c\u094d',
];

/** Returns a text of the signs, some of them many times. */
function randomText(random: (below: number) => number, length: number): string {
  const runs = Array.from({ length: random(length) }, () => {
    return SIGNS[random(SIGNS.length)]!.repeat(random(20) === 0 ? 40 : 1);
  });
  return runs.join('');
}

describe('fold', () => {
  it('leaves what each code point is folded to as it is', () => {
    for (const points of codePoints()) {
      const folded = fold(points);
      assert.equal(fold(folded), folded);
    }
  });

  it('leaves a folded text as it is, and folds a text sign by sign alike', () => {
    const random = randomNumbers(7);
    for (let round = 0; round < 1000; round += 1) {
      const text = randomText(random, 40);
      const folded = fold(text);
      assert.equal(fold(folded), folded, JSON.stringify(text));
      const bySign = [...signsOf(text)].map(({ sign }) => fold(sign)).join('');
      assert.equal(bySign, folded, JSON.stringify(text));
    }
  });

  it('joins what may become one syllable of Hangul, and no letter that begins one with the letter before', () => {
    const forms = [0x1100, 0x3131, 0xffa1].map((start) => {
      return Array.from({ length: 94 }, (_, at) => String.fromCodePoint(start + at));
    });
    const letters = [...forms.flat(), ...'가각'];
    for (const one of letters) {
      for (const other of letters) {
        const text = `${one}${other}`;
        const bySign = [...signsOf(text)].map(({ sign }) => fold(sign)).join('');
        assert.equal(bySign, fold(text), JSON.stringify(text));
      }
    }
    const signs = [...signsOf('안녕ㅋㅋㅎㅇﾡﾢ안ㅠㅠ tea안ㅠ')].map(({ sign }) => sign);
    assert.deepEqual(signs, [...'안녕ㅋㅋㅎㅇﾡﾢ안ㅠㅠ', ' tea', '안', 'ㅠ']);
  });

  it('keeps the first 30 marks of a letter, whose ordering takes the square of their number', () => {
    for (const marks of ['\u093c\u094d', '\u3099', '\u0f72\u0f74', 'ﾞ', '\u093c\u200d']) {
      const folded = fold(`क${marks.repeat(100_000)}`);
      assert.ok([...folded].length <= 31, JSON.stringify(marks));
    }
    assert.equal(fold(`x${'\u05b0\u05bc\u0301\u0323'.repeat(100_000)}y`), 'xy');
  });
});

describe('The words of a text', () => {
  it('are the same whether it is folded in pieces or as a whole', () => {
    const random = randomNumbers(8);
    for (let round = 0; round < 60; round += 1) {
      const text = randomText(random, 12_000);
      const whole = [...matchWords(fold(text))].map(([word]) => ` ${word}`).join('');
      assert.equal(wordsOf(text), whole);
    }
    assert.equal(wordsOf(`${'x'.repeat(4096)}${'… '.repeat(2048)}x`), ` ${'x'.repeat(4096)} x`);
    const latin = `${'ab_c '.repeat(3000)}${'x'.repeat(9000)} .`;
    assert.equal(wordsOf(latin), `${' ab c'.repeat(3000)} ${'x'.repeat(9000)}`);
    const long = `${'é'.repeat(50_000)} ${'茶'.repeat(50_000)}x`;
    assert.equal(wordsOf(long), ` ${'e'.repeat(50_000)} ${'茶'.repeat(50_000)} x`);
  });

  it('come in pieces that are short even of the longest form', () => {
    const lengths = [...wordPieces('ﷺ'.repeat(100_000))].map(({ length }) => length);
    assert.ok(Math.max(...lengths) < 100_000);
    for (const sign of 'ㅋㅠﾡￂㄳ') {
      assert.ok([...wordPieces(sign.repeat(100_000))].length > 20, sign);
    }
    for (const letters of ['ㄱㅏ', 'ㄱㅏㄳ', '가\u11a8', '\u1100\u1161\u11a8', 'ㅠㄳ\u0301']) {
      const [, ...lead] = wordsOf(letters);
      for (let shift = 0; shift < 4; shift += 1) {
        const text = `${'x'.repeat(shift)}${letters.repeat(3000)}`;
        assert.equal(wordsOf(text).endsWith(lead.join('').repeat(3000)), true, letters);
      }
    }
  });

  it('are split by no soft hyphen, no space without a width, and no mark of direction', () => {
    for (const sign of ['\u00ad', '\u200b', '\u2060', '\u200d', '\ufeff', '\u200f']) {
      assert.equal(wordsOf(`wo${sign}rd`), ' word');
    }
  });

  it('lose the points of Hebrew, the marks of Arabic and Syriac, and the tatweel', () => {
    assert.equal(wordsOf('שָׁלוֹם'), ' שלום');
    assert.equal(wordsOf('ٱلۡقُرۡءَانِ كتـــاب'), wordsOf('ٱلقرءان كتاب'));
    assert.equal(wordsOf('ܫܠܳܡܳܐ'), ' ܫܠܡܐ');
  });
});

describe('A query', () => {
  it('finds ẞ, ß and ss by each other', () => {
    const words = ' grosse';
    for (const text of ['Größe', 'GRÖẞE', 'GROSSE', 'grösse']) {
      assert.equal(wordsOf(text), words);
      assert.deepEqual(needlesOf(text), [words]);
    }
  });

  it('finds words of Arabic and Hebrew within others from three letters on', () => {
    const finds = (query: string, text: string): boolean =>
      needlesOf(query).every((needle) => wordsOf(text).includes(needle));
    for (const [query, text] of [
      ['شاي', 'أريد الشاي الأخضر'],
      ['אבא', 'דיברתי עם האבא'],
      ['שלום', 'והשלום'],
    ] as const) {
      assert.ok(finds(query, text), query);
    }
    assert.ok(!finds('من', 'زمن'));
    assert.ok(finds('من', 'من أنت'));
    assert.ok(!finds('"شاي"', 'الشاي'));
  });

  it('has one word where there is an apostrophe', () => {
    assert.deepEqual(needlesOf('don’t'), [' don t']);
    assert.deepEqual(needlesOf("don't 'rock'"), [' don t', ' rock']);
    assert.ok(wordsOf('l’amour').includes(needlesOf('amour')[0]!));
  });
});
