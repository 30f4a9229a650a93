import { describe, it } from 'node:test';

import type { DatabaseSessionService } from '../../../../js/database/index.js';
import { replaceEnd } from '../../../../js/service/replace_end.js';
import { REPLACE, TRUNCATIONS } from '../../service/verbs/truncations.js';

/** Tests appends that first remove the end of a history, each in a database of its own. */
export function replacesEnds(
  title: string,
  newUrl: () => string | Promise<string>,
  open: (url: string) => DatabaseSessionService,
): void {
  REPLACE.end = replaceEnd;
  describe(`a replaced end of a history, on ${title}`, () => {
    for (const [name, run] of Object.entries(TRUNCATIONS)) {
      it(name, async () => {
        await using service = open(await newUrl());
        await run(service);
      });
    }
  });
}
