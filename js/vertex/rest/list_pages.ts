/** Reads a list of the API page by page. */
import { ownMembers } from '../../members/own.js';
import { isPlainObject, type JsonObject } from '../../json/rules.js';
import type { Query, Rest } from './rest.js';

/**
 * Yields the items of each page.
 *
 * @param field the member of a page that holds its items
 * @throws SessionError `remote` if a page is malformed, or if a page token repeats
 */
export async function* listPages(
  rest: Rest,
  url: string,
  query: Query,
  field: string,
): AsyncGenerator<JsonObject[]> {
  const tokens = new Set<string>();
  let pageToken: string | undefined;
  do {
    const page = await rest.get(url, { ...query, pageToken });
    const { [field]: items = [], nextPageToken = '' } = page;
    const isPage = Array.isArray(items) && items.every(isPlainObject);
    if (!isPage || typeof nextPageToken !== 'string') throw rest.malformed(page);
    // A repeated token would make the loop endless.
    if (tokens.has(nextPageToken)) throw rest.malformed({ nextPageToken });
    yield items.map(ownMembers);
    pageToken = nextPageToken === '' ? undefined : nextPageToken;
    if (pageToken !== undefined) tokens.add(pageToken);
  } while (pageToken !== undefined);
}
