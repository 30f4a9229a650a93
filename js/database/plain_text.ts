/** Exchanges names and times within the text of an event, see `plain_event.ts`. */
import { MAX_TIMESTAMP } from '../snapshot.js';
import { isBase64 } from '../dialect/python_event.js';
import type { Leaf } from '../dialect/python_models.js';

/** Levels of data that are followed here. */
const MAX_LEVELS = 100;
/** Digits of a number that are the same again for sure once it was read and printed. */
const MAX_DIGITS = 15;

/** What {@link PlainText} knows of a place: as `Accepted`, for one direction. */
export type Place = Leaf | 'time' | ListPlace | DictionaryPlace | ObjectPlace;

interface ListPlace {
  readonly list: Place;
}

interface DictionaryPlace {
  readonly values: Place;
}

export interface ObjectPlace {
  /** By the name in the text that is read. Of a model with conditions there is none. */
  readonly members: ReadonlyMap<string, Member>;
  /** The one that came first the last time. */
  first: Member | undefined;
  /** The bits of all members that must be there. */
  readonly needed: number;
}

/** Events are alike: which member comes next is guessed by the last one, and looked up where that fails. */
export interface Member {
  /** The name in the text that is read, in quotes and with the colon. */
  readonly source: string;
  /** The name in the text that is written, in quotes. */
  readonly name: string;
  readonly place: Place;
  readonly bit: number;
  /** The one that came behind it the last time. */
  next: Member | undefined;
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;
const INTEGER = /^-?\d+$/;
const COUNT = /^\d+$/;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * One walk over a text. Each method reads what begins at `#at` and goes behind it, or answers `false` if
 * it is not plain. What is no JSON may pass, as what it is.
 */
export class PlainText {
  id = '';
  invocationId = '';
  /** In milliseconds, if that is what is written. */
  time = NaN;
  readonly #text: string;
  readonly #end: number;
  readonly #convert: (time: number) => number;
  readonly #back: (time: number) => number;
  #at = 0;
  #written = '';
  /** Up to where the text is written. */
  #kept = 0;

  /**
   * @param end where the members of the event end
   * @param convert makes a time that is written of one that is read; `back` is the other way
   */
  constructor(
    text: string,
    end: number,
    convert: (time: number) => number,
    back: (time: number) => number,
  ) {
    this.#text = text;
    this.#end = end;
    this.#convert = convert;
    this.#back = back;
  }

  /** What is written of the event, without its last brace; `undefined` if it is not plain. */
  event(place: ObjectPlace): string | undefined {
    if (!this.#object(place, this.#end)) return undefined;
    return this.#written + this.#text.slice(this.#kept, this.#end);
  }

  /** @param end where the closing brace stands, if that is known */
  #object(place: ObjectPlace, end: number): boolean {
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== OBJECT) return false;
    this.#at += 1;
    let found = 0;
    if (place.needed === 0 && text.charCodeAt(this.#at) === OBJECT_END) {
      this.#at += 1;
      return true;
    }
    let last: Member | undefined;
    for (;;) {
      const start = this.#at;
      let member = last === undefined ? place.first : last.next;
      if (member === undefined || !text.startsWith(member.source, start)) {
        member = this.#member(place);
        if (member === undefined) return false;
        if (last === undefined) place.first = member;
        else last.next = member;
      }
      last = member;
      this.#at = start + member.source.length;
      // A name that is not the same in both has another length; else the text is kept.
      if (member.name.length + 1 !== member.source.length) {
        this.#written += text.slice(this.#kept, start) + member.name;
        this.#kept = this.#at - 1;
      }
      const value = this.#at;
      if (!this.#value(member.place)) return false;
      if (member.bit !== 0 && end >= 0) this.#note(member, value);
      found |= member.bit;
      if (this.#at === end) break;
      const next = text.charCodeAt(this.#at);
      this.#at += 1;
      if (next === COMMA) continue;
      if (next === OBJECT_END && end < 0) break;
      return false;
    }
    return found === place.needed;
  }

  /** The member whose name begins here; `undefined` if it is none that is known. */
  #member({ members }: ObjectPlace): Member | undefined {
    const text = this.#text;
    const start = this.#at;
    if (text.charCodeAt(start) !== QUOTE) return undefined;
    const stop = text.indexOf('"', start + 1);
    if (text.charCodeAt(stop + 1) !== COLON) return undefined;
    return members.get(text.slice(start + 1, stop));
  }

  /** Keeps the ids of the event, which stand in columns as well. */
  #note({ name }: Member, start: number): void {
    if (name === '"id"') this.id = this.#textFrom(start);
    else if (name === '"invocationId"' || name === '"invocation_id"') {
      this.invocationId = this.#textFrom(start);
    }
  }

  #textFrom(start: number): string {
    const text = this.#text.slice(start + 1, this.#at - 1);
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
  }

  #value(place: Place): boolean {
    if (typeof place === 'string') return this.#leaf(place);
    if ('members' in place) return this.#object(place, -1);
    return 'list' in place ? this.#list(place.list) : this.#dictionary(place.values);
  }

  #list(place: Place): boolean {
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== LIST) return false;
    this.#at += 1;
    if (text.charCodeAt(this.#at) === LIST_END) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      if (!this.#value(place)) return false;
      const next = text.charCodeAt(this.#at);
      this.#at += 1;
      if (next === LIST_END) return true;
      if (next !== COMMA) return false;
    }
  }

  #dictionary(place: Place): boolean {
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== OBJECT) return false;
    this.#at += 1;
    if (text.charCodeAt(this.#at) === OBJECT_END) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      if (!this.#string() || text.charCodeAt(this.#at) !== COLON) return false;
      this.#at += 1;
      if (!this.#value(place)) return false;
      const next = text.charCodeAt(this.#at);
      this.#at += 1;
      if (next === OBJECT_END) return true;
      if (next !== COMMA) return false;
    }
  }

  #leaf(leaf: Leaf | 'time'): boolean {
    switch (leaf) {
      case 'text':
        return this.#string();
      case 'flag':
        return this.#word('true') || this.#word('false');
      case 'float':
        return this.#number(NUMBER);
      case 'integer':
        return this.#number(INTEGER);
      case 'count':
        return this.#number(COUNT);
      case 'time':
        return this.#time();
      case 'bytes':
        return this.#bytes();
      case 'data':
        return this.#data();
      case 'record':
      case 'delta':
        return this.#text.charCodeAt(this.#at) === OBJECT && this.#data();
      case 'null value':
      case 'route':
      case 'auth config':
        return false;
    }
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #string(): boolean {
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== QUOTE) return false;
    for (let end = text.indexOf('"', this.#at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
      let backslashes = 0;
      while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
      if (backslashes % 2 === 0) {
        this.#at = end + 1;
        return true;
      }
    }
    return false;
  }

  #bytes(): boolean {
    const start = this.#at;
    return this.#string() && isBase64(this.#text.slice(start + 1, this.#at - 1));
  }

  /** The characters of a number. */
  #token(): string {
    const text = this.#text;
    const start = this.#at;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      // The sign, and within a number also the point.
      const isPart = (code >= ZERO && code <= NINE) || code === MINUS || code === MINUS + 1;
      if (!isPart) break;
      this.#at += 1;
    }
    return text.slice(start, this.#at);
  }

  #number(form: RegExp): boolean {
    const token = this.#token();
    return token.length <= MAX_DIGITS && form.test(token);
  }

  #time(): boolean {
    const start = this.#at;
    const token = this.#token();
    const time = Number(token);
    const converted = this.#convert(time);
    // Other spellings of the number, and times that do not come back, are for the long road.
    const isPlain =
      String(time) === token &&
      this.#back(converted) === time &&
      converted >= 0 &&
      Math.max(time, converted) <= MAX_TIMESTAMP;
    if (!isPlain) return false;
    this.time = converted;
    this.#written += this.#text.slice(this.#kept, start) + String(converted);
    this.#kept = this.#at;
    return true;
  }

  /** Any JSON, of which nothing is changed. */
  #data(): boolean {
    const text = this.#text;
    let level = 0;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) {
        if (!this.#string()) return false;
      } else if (code === OBJECT || code === LIST) {
        level += 1;
        if (level > MAX_LEVELS) return false;
        this.#at += 1;
      } else if (code === OBJECT_END || code === LIST_END) {
        level -= 1;
        this.#at += 1;
      } else if (code === COMMA || code === COLON) {
        this.#at += 1;
      } else if (!this.#scalar(code)) {
        return false;
      }
      if (level === 0) return true;
      if (level < 0) return false;
    }
  }

  #scalar(code: number): boolean {
    if ((code >= ZERO && code <= NINE) || code === MINUS) {
      return this.#number(NUMBER);
    }
    return this.#word('true') || this.#word('false') || this.#word('null');
  }
}
