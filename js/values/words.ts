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
 * Signs that change no word: accents, the vowel signs and points of Hebrew, Arabic and Syriac, the tatweel, and what has no
 * width, as the soft hyphen. The sound marks of Kana make another word.
 */
const MARK_RANGES = [
  '\\u00ad\\u0300-\\u036f\\u0485\\u0486\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7',
  '\\u0610-\\u061a\\u061c\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8',
  '\\u06ea-\\u06ed\\u0711\\u0730-\\u074a\\u0897-\\u089f\\u08ca-\\u08e1\\u08e3-\\u08ff\\u0951-\\u0954',
  '\\u1ab0-\\u1add\\u1ae0-\\u1aeb\\u1cd0-\\u1cd2\\u1cd4-\\u1ce0\\u1ce2-\\u1ce8\\u1ced\\u1cf4\\u1cf8',
  '\\u1cf9\\u1dc0-\\u1dff\\u200b-\\u200f\\u2060-\\u2064\\u20d0-\\u20f0\\u302a-\\u302d\\ufb1e',
  '\\ufe00-\\ufe0f\\ufe20-\\ufe2d\\ufeff\\u{101fd}\\u{102e0}\\u{10efa}-\\u{10eff}\\u{1133b}',
  '\\u{1cf00}-\\u{1cf2d}\\u{1cf30}-\\u{1cf46}\\u{1d167}-\\u{1d169}\\u{1d17b}-\\u{1d182}',
  '\\u{1d185}-\\u{1d18b}\\u{1d1aa}-\\u{1d1ad}\\u{e0100}-\\u{e01ef}',
];
const MARKS = new RegExp(`${classOf(MARK_RANGES)}+`, 'gu');
/** The most marks of one letter. Their ordering takes the square of their number. */
const MOST_MARKS = 30;
/** The sound marks of half-width Kana are letters whose form is a mark. */
const LONG_RUN = new RegExp(`([\\p{M}\\uff9e\\uff9f]{${MOST_MARKS}})[\\p{M}\\uff9e\\uff9f]+`, 'gu');
/** Characters that can join any preceding one: marks, letters whose form begins with one, and signs that are dropped. */
const JOINED = classOf([
  '\\p{M}\\u0e33\\u0eb3\\ufcf2-\\ufcf4\\ufe71\\ufe77\\ufe79\\ufe7b\\ufe7d\\ufe7f\\uff9e\\uff9f\\u{16d67}',
  ...MARK_RANGES,
]);
/**
 * The letters of Hangul in each of their forms: first consonants, syllables, and the vowels and last consonants that can join
 * these. A vowel joins a consonant alone, so each letter of ㅠㅠㅠ is a sign, as of ㅋㅋㅋ.
 */
const FIRST = '[\\u1100-\\u115f\\u3131-\\u314e\\u3260-\\u326d\\uffa1-\\uffbe]';
const SYLLABLE = '[\\u326e-\\u327e\\uac00-\\ud7a3]';
const VOWEL = '[\\u1160-\\u11a7\\u314f-\\u3163\\uffc2-\\uffdc]';
const LAST =
  '[\\u11a8-\\u11ff\\u3133\\u3135\\u3136\\u313a-\\u313f\\uffa3\\uffa5\\uffa6\\uffaa-\\uffaf]';
/** Ends before a letter that joins none, or after two letters of Hangul of which the second joins none further. */
const STARTER = new RegExp(
  `(?=(?!${JOINED}|${VOWEL}|${LAST})[^])|(?:${VOWEL}|${LAST}){2}(?!${JOINED})`,
  'gu',
);
/**
 * What is folded together: a letter with all that may join it. ASCII without marks is folded letter by letter in any
 * case, so a run of it is one match.
 */
const SIGN = new RegExp(
  [
    `([\\0-\\x7f]+)(?!${JOINED})`,
    `(?:${SYLLABLE}|${FIRST}${JOINED}*${VOWEL})${JOINED}*(?:${LAST}${JOINED}*)?`,
    `[^]${JOINED}*`,
  ].join('|'),
  'gu',
);
const ASCII = /^[\0-\x7f]*$/;
/** The UTF-16 units of a text that are folded at once. One unit has a form of 18 letters. */
const PIECE = 4096;
/** A word of Arabic or Hebrew that is found within others, which may begin with an article or a preposition. */
const INNER = new RegExp(
  `^ (?:(?!\\p{M})[\\u05d0-\\u05f2\\u0620-\\u06ff\\u0750-\\u077f\\u0860-\\u08c9]){3,}$`,
  'u',
);
/** A phrase in quotes, or a word. One with apostrophes is one: `don’t`. */
const TERM = /["“”„«»]([^"“”„«»]*)["“”„«»]|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu;

/** Scripts in which a pair of letters is about a word. Of other unspaced scripts, three are. */
const PAIRED =
  '\\u3005-\\u312f\\u31a0-\\u31ff\\u3400-\\u9fff\\uf900-\\ufad9\\u{16fe3}-\\u{1b167}\\u{20000}-\\u{33479}';
const SCRIPT_RUN = new RegExp(`([${PAIRED}]+)|[^${PAIRED}]+`, 'gu');
/** Endings and particles of Japanese. */
const HIRAGANA = /^[\u3041-\u309f\u30fc]*$/;

/** Raise it when the same text gives other words. Stored words of another version are made again. */
export const WORDS_VERSION = 2;

function classOf(ranges: readonly string[]): string {
  return `[${ranges.join('')}]`;
}

/**
 * Returns a text without marks, in lower case. What is folded once stays as it is. Each letter is treated by itself, so that
 * a text can be folded in pieces. Of more than 30 marks on a letter those after the first 30 are dropped.
 */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const short = text.replace(MARKS, '').replace(LONG_RUN, '$1');
  const bare = short.normalize('NFKD').replace(MARKS, '').replace(LONG_RUN, '$1').normalize('NFC');
  // By way of upper case, ß is ss; by way of lower case before that, ẞ is too. A sigma is the same at the end of a word
  // as within.
  return bare.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Yields the letters of a text with their marks. A run of ASCII is yielded at once, as `ascii`. */
export function* signsOf(
  text: string,
): Generator<{ readonly sign: string; readonly index: number; readonly isAscii: boolean }> {
  for (const { 0: sign, 1: ascii, index } of text.matchAll(SIGN)) {
    yield { sign, index, isAscii: ascii !== undefined };
  }
}

/** Finds the words of a folded text. A word ends where the script changes from an unspaced one to another. */
export function matchWords(folded: string): IterableIterator<RegExpMatchArray> {
  return folded.matchAll(WORD);
}

/** Yields the words of a text, each with a blank before it, in pieces that take a short time each. */
export function* wordPieces(text: string): Generator<string, void, undefined> {
  /** The script of the word that the piece before has ended with. */
  let open: boolean | undefined;
  for (let start = 0; start < text.length;) {
    const end = pieceEnd(text, start);
    const folded = fold(text.slice(start, end));
    start = end;
    if (folded === '') continue;
    if (ASCII.test(folded)) {
      const plain = folded.replace(/[^a-z0-9]+/g, ' ');
      const isWithin = open === false || plain.startsWith(' ');
      open = plain.endsWith(' ') ? undefined : false;
      yield (isWithin ? plain : ` ${plain}`).trimEnd();
      continue;
    }
    const words = folded.match(WORD);
    if (words === null) {
      open = undefined;
      continue;
    }
    const first = words[0];
    const last = words.at(-1) ?? first;
    const isWithin = folded.startsWith(first) && open === UNSPACED_START.test(first);
    open = folded.endsWith(last) ? UNSPACED_START.test(last) : undefined;
    yield `${isWithin ? '' : ' '}${words.join(' ')}`;
  }
}

/** Returns the end of the piece that begins at `start`. It is before a letter, so that no letter loses its marks. */
function pieceEnd(text: string, start: number): number {
  if (text.length - start <= PIECE) return text.length;
  STARTER.lastIndex = start + PIECE;
  return STARTER.test(text) ? STARTER.lastIndex : text.length;
}

/** Returns the words of a text as one text, each with a blank before it. */
export function wordsOf(text: string): string {
  return [...wordPieces(text)].join('');
}

/**
 * Returns what the words of a text must contain to have all words and "phrases" of a query. A word is found at the
 * beginning of words. In an unspaced script it is found anywhere, and so is one of Arabic or Hebrew from three letters on.
 *
 * @returns each of them once; nothing if the query has no letter and no digit
 */
export function needlesOf(query: string): string[] {
  const needles = [...fold(query).matchAll(TERM)].map(([term, phrase]) => {
    const needle = wordsOf(phrase ?? term);
    const isFoundWithin =
      UNSPACED_START.test(needle.slice(1)) || (phrase === undefined && INNER.test(needle));
    return isFoundWithin ? needle.slice(1) : needle;
  });
  return [...new Set(needles)].filter((needle) => needle !== '');
}

/**
 * Returns what the words of an answer to a question may contain: any of its words. A question in a script without blanks has
 * each pair of Han and Kana, without those of Hiragana alone, and any three letters of the others.
 *
 * @returns each of them once; nothing if the question has no letter and no digit
 */
export function anyNeedlesOf(question: string): string[] {
  const parts = needlesOf(question).flatMap((needle) => {
    const words = needle.match(WORD) ?? [];
    const isUnspaced = words.some((word) => UNSPACED_START.test(word));
    return isUnspaced ? words.flatMap(partsOfWord) : needle;
  });
  return parts.length > 0 ? [...new Set(parts)] : needlesOf(question);
}

function partsOfWord(word: string): string[] {
  if (!UNSPACED_START.test(word)) return [` ${word}`];
  const parts: string[] = [];
  for (const { 0: run, 1: paired } of word.matchAll(SCRIPT_RUN)) {
    const letters = [...run];
    const length = paired === undefined ? 3 : 2;
    for (let at = 0; at === 0 || at + length <= letters.length; at += 1) {
      const part = letters.slice(at, at + length).join('');
      if (!HIRAGANA.test(part)) parts.push(part);
    }
  }
  return parts;
}
