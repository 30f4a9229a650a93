/** The pages of a list. */
import { ownMembers } from '../../members/own.js';
import { isPlainObject } from '../../json/rules.js';
import type { Json, Query, Rest } from './rest.js';

/**
 * @param field the member of a page that holds its items
 * @throws SessionError `remote` where a page is none of the API's, or a page leads back to an earlier one
 */
export async function* listPages(
  rest: Rest,
  url: string,
  query: Query,
  field: string,
): AsyncGenerator<Json[]> {
  const tokens = new Set<string>();
  let pageToken: string | undefined;
  do {
    const page = await rest.get(url, { ...query, pageToken });
    const { [field]: items = [], nextPageToken = '' } = page;
    const isPage = Array.isArray(items) && items.every(isPlainObject);
    if (!isPage || typeof nextPageToken !== 'string') throw rest.malformed(page);
    // A server that gives a token again would be asked without end.
    if (tokens.has(nextPageToken)) throw rest.malformed({ nextPageToken });
    yield items.map(ownMembers);
    pageToken = nextPageToken === '' ? undefined : nextPageToken;
    if (pageToken !== undefined) tokens.add(pageToken);
  } while (pageToken !== undefined);
}
