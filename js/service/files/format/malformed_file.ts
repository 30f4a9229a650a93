import { SessionError } from '../../../values/errors/errors.js';
import { kindOf } from '../../../values/errors/describe.js';
import { formatPath, type PathSegment } from '../../../values/json/path.js';
import { isPlainObject, type JsonObject } from '../../../values/json/rules.js';

/**
 * Makes the error for a file that is not a valid session.
 *
 * @param path the place of the mistake, with the names of this package's types
 * @param rule the rest of a sentence that begins with the path: `must be a list`
 */
export function malformedFile(
  path: readonly PathSegment[],
  rule: string,
  cause?: unknown,
): SessionError {
  const formattedPath = formatPath(path);
  const message = `${formattedPath === '' ? 'The session file' : formattedPath} ${rule}.`;
  return new SessionError('invalid_argument', message, {
    path: formattedPath,
    key: formattedPath === '' ? 'file' : formattedPath,
    cause,
  });
}

/** @throws SessionError `invalid_argument` with the path, if the value is not a JSON object */
export function requireJsonObject(value: unknown, path: readonly PathSegment[]): JsonObject {
  if (isPlainObject(value)) return value;
  throw malformedFile(path, `must be an object; it is ${describeKind(value)}`);
}

/** Describes what a file has instead of the right value. */
export function describeKind(value: unknown): string {
  return value === undefined ? 'missing' : kindOf(value);
}
