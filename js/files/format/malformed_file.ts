import { SessionError } from '../../errors/errors.js';
import { formatPath, type PathSegment } from '../../json/path.js';

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
