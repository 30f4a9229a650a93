/** The words of texts and of queries, the same on every host. Lists by title and searches compare them. */

/** The signs of scripts in which a word may begin inside a text without a blank before it. */
const UNSPACED =
  '(?=[\\p{L}\\p{M}\\p{N}])[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Bopo}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmr}\\p{sc=Mymr}]';
const UNSPACED_START = new RegExp(`^${UNSPACED}`, 'u');
const WORD = new RegExp(`(?:${UNSPACED})+|(?:(?!${UNSPACED})[\\p{L}\\p{M}\\p{N}])+`, 'gu');
/** Marks that change no word: accents, and the vowel signs of Arabic. The sound marks of Kana make another word. */
const MARK = /(?![\u3099\u309a])\p{sc=Zinh}/gu;
/** A phrase in quotes, or what stands between blanks. */
const TERM = /["“”„«»]([^"“”„«»]*)["“”„«»]|[\p{L}\p{M}\p{N}]+/gu;

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
  for (const [word] of matchWords(fold(text))) words += ` ${word}`;
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
