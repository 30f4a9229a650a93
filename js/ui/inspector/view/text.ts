import { messageOf } from '../../../values/errors/describe.js';
import { errorText } from '../../../values/errors/error_text.js';
import { isSessionError } from '../../../values/errors/errors.js';

/** Control characters other than tab and line feed, and the marks that change the direction of a text. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns a stored text with its unseen characters written out. A mark that turns the direction around would otherwise
 * show a text that is not the stored one.
 */
export function visibleText(text: unknown): string {
  return textOf(text).replace(UNSEEN, (mark) =>
    /[\t\n]/.test(mark) ? mark : `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns a text. Other programs may have stored something else where events have texts. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : (JSON.stringify(value) ?? '');
}

/** Returns at most `length` characters, with an ellipsis if there are more. */
export function clip(value: unknown, length: number): string {
  const text = textOf(value);
  return visibleText(text.length > length ? `${text.slice(0, length)}…` : text);
}

/** Returns a value as it stands in a JSON text, or `removed` for `undefined`. */
export function jsonText(value: unknown, indent?: number): string {
  return value === undefined ? 'removed' : (JSON.stringify(value, undefined, indent) ?? '');
}

/** Returns a time for people. */
export function timeText(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toLocaleString();
}

/** Returns a number of sessions for people. */
export function sessionsText(count: number): string {
  return count === 1 ? '1 session' : `${count} sessions`;
}

/** Returns a size for people. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}

/** Returns an error in words, and its message, since the inspector is a tool of developers. */
export function errorWithMessage(error: unknown): string {
  const message = messageOf(error);
  return isSessionError(error) ? `${errorText(error)} ${message}` : message;
}
