/** The words of texts and of queries, the same on every host. Lists by title and searches compare them. */

// By ranges, not by the names of scripts: Hermes knows no names, and hosts have different versions of Unicode.

/** The letters of scripts in which a word may begin without a blank before it: Han, Kana, Hangul, Bopomofo, Thai, Lao, Khmer, Burmese. */
const UNSPACED_RANGES = [
  '\\u0e01-\\u0edf\\u1000-\\u109d\\u1100-\\u11ff\\u1780-\\u17f9\\u3005-\\u3229\\u3280-\\u3289',
  '\\u3400-\\u9fff\\ua960-\\ua97c\\ua9e0-\\ua9fe\\uaa60-\\uaa7f\\uac00-\\ud7fb\\uf900-\\ufad9',
  '\\uff66-\\uffdc\\u{116d0}-\\u{116e3}\\u{16fe3}\\u{16ff0}-\\u{16ff6}\\u{1aff0}-\\u{1b167}',
  '\\u{1d360}-\\u{1d371}\\u{20000}-\\u{33479}',
];
const UNSPACED = `(?=[\\p{L}\\p{M}\\p{N}])${classOf(UNSPACED_RANGES)}`;
const UNSPACED_START = new RegExp(`^${UNSPACED}`, 'u');
const WORD = new RegExp(`(?:${UNSPACED})+|(?:(?!${UNSPACED})[\\p{L}\\p{M}\\p{N}])+`, 'gu');
/**
 * Marks that change no word: accents, and the vowel signs of Arabic. They are Unicode's marks of no script of their own,
 * without the sound marks of Kana, which make another word.
 */
const MARK_RANGES = [
  '\\u0300-\\u036f\\u0485\\u0486\\u064b-\\u0655\\u0670\\u0951-\\u0954\\u1ab0-\\u1add\\u1ae0-\\u1aeb',
  '\\u1cd0-\\u1cd2\\u1cd4-\\u1ce0\\u1ce2-\\u1ce8\\u1ced\\u1cf4\\u1cf8\\u1cf9\\u1dc0-\\u1dff\\u200c',
  '\\u200d\\u20d0-\\u20f0\\u302a-\\u302d\\ufe00-\\ufe0f\\ufe20-\\ufe2d\\u{101fd}\\u{102e0}\\u{1133b}',
  '\\u{1cf00}-\\u{1cf2d}\\u{1cf30}-\\u{1cf46}\\u{1d167}-\\u{1d169}\\u{1d17b}-\\u{1d182}',
  '\\u{1d185}-\\u{1d18b}\\u{1d1aa}-\\u{1d1ad}\\u{e0100}-\\u{e01ef}',
];
const MARK = new RegExp(classOf(MARK_RANGES), 'gu');
/** A phrase in quotes, or what stands between blanks. */
const TERM = /["“”„«»]([^"“”„«»]*)["“”„«»]|[\p{L}\p{M}\p{N}]+/gu;

function classOf(ranges: readonly string[]): string {
  return `[${ranges.join('')}]`;
}

/** Returns a text without marks, in lower case. It treats each sign by itself, so that a text can be folded in pieces. */
export function fold(text: string): string {
  const bare = text.normalize('NFKD').replace(MARK, '').normalize('NFC');
  // By way of upper case, ß is ss. A sigma is the same at the end of a word as within.
  return bare.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Finds the words of a folded text. A word ends where the script changes from an unspaced one to another. */
export function matchWords(folded: string): IterableIterator<RegExpMatchArray> {
  return folded.matchAll(WORD);
}

/** Returns the words of a text as one text, each with a blank before it. */
export function wordsOf(text: string): string {
  let words = '';
  for (const word of fold(text).match(WORD) ?? []) words += ` ${word}`;
  return words;
}

/**
 * Returns what the words of a text must contain to have all words and "phrases" of a query. A word is found at the
 * beginning of words, and in an unspaced script anywhere.
 *
 * @returns each of them once; nothing if the query has no letter and no digit
 */
export function needlesOf(query: string): string[] {
  const needles = [...fold(query).matchAll(TERM)].map(([word, phrase]) => wordsOf(phrase ?? word));
  const given = needles.filter((needle) => needle !== '');
  const bare = (needle: string) =>
    UNSPACED_START.test(needle.slice(1)) ? needle.slice(1) : needle;
  return [...new Set(given.map(bare))];
}
