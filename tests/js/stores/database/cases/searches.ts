import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { requireSearches } from '../../../service/search/searches.js';

/** @param newUrl gives a database without tables */
export function findsInFiveLanguages(title: string, newUrl: () => Promise<string>): void {
  it(`queries in five languages find the same texts on ${title}`, async () => {
    await requireSearches(new DatabaseSessionService(await newUrl()));
  });
}
