/** The title of a session, taken from its first user message. */
import { SessionError } from '../../errors/errors.js';
import { requireBoolean } from '../../errors/option_values.js';
import { isPlainObject } from '../../json/rules.js';
import type { Part } from './content.js';
import type { Event } from './event.js';
import { filesOf } from './message_files.js';

/** The most code points of such a title. */
const MAX_TITLE = 60;
/** UTF-16 units that are looked at. No part of a title needs more, apart from white space. */
const LONGEST_START = 1024;

/**
 * Checks the option `autoTitle`.
 *
 * @throws SessionError `invalid_argument` if it is not a boolean; `unsupported` if the host cannot cut texts
 */
export function takeAutoTitle(autoTitle: unknown): boolean {
  if (autoTitle === undefined) return false;
  requireBoolean('autoTitle', autoTitle);
  if (!autoTitle) return false;
  if (typeof Intl === 'object' && typeof Intl.Segmenter === 'function') return true;
  throw new SessionError('unsupported', 'autoTitle needs Intl.Segmenter, which this host lacks.');
}

/**
 * Returns the title that a stored event gives to its session: the beginning of a user's message, cut at a word. The
 * texts that stand for its files are left out.
 *
 * @param text JSON text of the event
 * @returns `undefined` if the event is no message of a user, or has no text
 */
export function titleOf(text: string): string | undefined {
  const event = JSON.parse(text) as Partial<Event>;
  const { author, content } = event;
  const parts: unknown = isPlainObject(content) ? content.parts : undefined;
  if (author !== 'user' || !Array.isArray(parts)) return undefined;
  const files = filesOf(event).map(({ part }) => part);
  const texts = parts.map((part: unknown, index) => {
    const { text, thought } = Object(part) as Partial<Part>;
    return typeof text === 'string' && thought !== true && !files.includes(index) ? text : '';
  });
  const message = texts.join(' ');
  const start = message.trimStart().slice(0, LONGEST_START);
  // The last unit may be half of a character.
  return cut(start.replace(/[\p{Cc}\p{Surrogate}\s]+/gu, ' ').trim()) || undefined;
}

/** Returns the title that the first user message among the events gives. */
export function firstTitleOf(events: readonly { readonly text: string }[]): string | undefined {
  for (const { text } of events) {
    const title = titleOf(text);
    if (title !== undefined) return title;
  }
  return undefined;
}

/** Cuts a text at the end of a word; a first word that is too long, between two graphemes. */
function cut(text: string): string {
  if ([...text].length <= MAX_TITLE) return text;
  return takeSegments(text, 'word').trimEnd() || takeSegments(text, 'grapheme');
}

/** Returns the first whole segments that have room. */
function takeSegments(text: string, granularity: 'word' | 'grapheme'): string {
  let taken = '';
  let length = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity }).segment(text)) {
    length += [...segment].length;
    if (length > MAX_TITLE) break;
    taken += segment;
  }
  return taken;
}
