/**
 * Times to the microsecond. The tables of google-adk have them as `YYYY-MM-DD HH:MM:SS.ffffff` in UTC, always
 * with six digits, because Python compares them as text. In this program they are whole microseconds since
 * 1970, and serve as revisions. A `Date` would lose the last three digits.
 */

import { MAX_TIMESTAMP } from '../model/values/time.js';
import { toMilliseconds } from './time.js';

/** The last revision, in March 2242. After it, doubles of seconds no longer distinguish microseconds. */
export const LAST_REVISION = 2 ** 33 * 1e6 - 1;

/** The last time that becomes a revision. It leaves room for revisions after it. */
export const LAST_MICROS = LAST_REVISION - 2 ** 32;

/**
 * How far before a handle's revision an append reads other clients' events, in microseconds. Clocks differ, and
 * an event is made some time before its append. So a later event may carry an earlier time.
 */
export const LOOK_BACK_MICROS = 10_000_000;

/** The most of these events that are read, so that an append stays short after an import or a burst of appends. */
export const LOOK_BACK_EVENTS = 100;

/** Converts milliseconds, which may have a fraction, to whole microseconds, at most {@link LAST_MICROS}. */
export function millisecondsToMicros(milliseconds: number): number {
  return Math.min(LAST_MICROS, wholeMicros(milliseconds));
}

function wholeMicros(milliseconds: number): number {
  const wholeMilliseconds = Math.floor(milliseconds);
  return wholeMilliseconds * 1000 + Math.round((milliseconds - wholeMilliseconds) * 1000);
}

/** Cache of the last time that was written: a transaction writes the same time to several tables. */
let lastMicros = NaN;
let lastText = '';

/** Formats a time in microseconds. */
export function microsToTimeText(micros: number): string {
  if (micros !== lastMicros) {
    lastText = formatTime(Math.floor(micros / 1000), micros % 1000);
    lastMicros = micros;
  }
  return lastText;
}

/** Formats a time in milliseconds, to the microsecond, also after 2242. */
export function millisecondsToTimeText(milliseconds: number): string {
  const micros = wholeMicros(milliseconds);
  if (micros <= LAST_REVISION) return microsToTimeText(micros);
  const wholeMilliseconds = Math.floor(milliseconds);
  const fractionMicros = Math.round((milliseconds - wholeMilliseconds) * 1000);
  return fractionMicros === 1000
    ? formatTime(wholeMilliseconds + 1, 0)
    : formatTime(wholeMilliseconds, fractionMicros);
}

/**
 * Cache of the last second that was written. The times of a transaction nearly always lie within one second.
 */
let lastSecond = NaN;
let lastPrefix = '';

function formatTime(milliseconds: number, micros: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== lastSecond) {
    const iso = new Date(second * 1000).toISOString();
    lastSecond = second;
    lastPrefix = `${iso.slice(0, 10)} ${iso.slice(11, 20)}`;
  }
  const fraction = (milliseconds - second * 1000) * 1000 + micros;
  return lastPrefix + String(fraction).padStart(6, '0');
}

const TIME_PATTERN =
  /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,6})\d*)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * Reads a time that we, Python or a person wrote. It may have a fraction, a `T` and an offset, or be a number
 * of seconds.
 *
 * @returns microseconds, at most {@link LAST_REVISION}; `undefined` if the value is not a time
 */
export function parseTime(value: unknown): number | undefined {
  const fixedFormatMicros = typeof value === 'string' ? parseFixedFormat(value) : NaN;
  if (fixedFormatMicros <= LAST_MICROS) return fixedFormatMicros;
  const milliseconds = parseMilliseconds(value);
  return milliseconds === undefined
    ? undefined
    : Math.min(LAST_REVISION, wholeMicros(milliseconds));
}

/** Cache of the last day that was read, as year, month and day, and its start in milliseconds. */
let lastDay = NaN;
let lastDayStart = NaN;

/** Reads a time from 1970 on, in exactly our own format, as microseconds. `NaN` for any other text. */
function parseFixedFormat(text: string): number {
  const hasFixedFormat =
    text.length === 26 &&
    text[4] === '-' &&
    text[7] === '-' &&
    text[10] === ' ' &&
    text[13] === ':' &&
    text[16] === ':' &&
    text[19] === '.';
  if (!hasFixedFormat) return NaN;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const micros = twoDigits(text, 20) * 10_000 + twoDigits(text, 22) * 100 + twoDigits(text, 24);
  const isInCalendar = year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  if (!isInCalendar || hour > 23 || minute > 59 || second > 59) return NaN;
  const date = (year * 100 + month) * 100 + day;
  if (date !== lastDay) {
    lastDayStart = Date.UTC(year, month - 1, day);
    lastDay = date;
  }
  return lastDayStart * 1000 + (hour * 3600 + minute * 60 + second) * 1e6 + micros;
}

/** Reads two digits; `NaN` if they are not digits. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

/**
 * Reads a time like {@link parseTime}, as milliseconds with a fraction for the microseconds.
 *
 * @returns `undefined` if the value is not a time
 */
export function parseMilliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return inRange(toMilliseconds(value));
  if (typeof value !== 'string') return undefined;
  const fixedFormatMicros = parseFixedFormat(value);
  if (fixedFormatMicros <= LAST_MICROS) return fixedFormatMicros / 1000;
  const match = TIME_PATTERN.exec(value);
  if (match === null) return undefined;
  const [, day = '', clock = '00:00', fraction = '', zone = 'Z'] = match;
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone;
  const micros = Number(fraction.padEnd(6, '0'));
  return inRange(Date.parse(`${day}T${clock}${offset}`) + micros / 1000);
}

function inRange(milliseconds: number): number | undefined {
  return milliseconds >= 0 && milliseconds < MAX_TIMESTAMP + 1 ? milliseconds : undefined;
}
