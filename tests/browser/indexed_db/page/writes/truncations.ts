// Appends that first remove the end of a history.

import { IndexedDbSessionService } from 'adk-session-wasm';
import { replaceEnd } from '../../../../../js/service/replace_end.js';
import { REPLACE, TRUNCATIONS } from '../../../../js/service/verbs/truncations.js';

REPLACE.end = replaceEnd;

/** Runs one of the tests in a new database. */
export async function replaceAnEnd(name: string, test: string, mirror: boolean): Promise<void> {
  const service = new IndexedDbSessionService({ name, mirror });
  try {
    await TRUNCATIONS[test]?.(service);
  } finally {
    await service.close();
  }
}
