import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { DatabaseSessionService } from '../../../../js/database/index.js';

const SHOP = { appName: 'shop' };
const NOTE = "adk_internal_metadata where value = 'complete'";

/**
 * Tests that titles and labels which an earlier version of this package has stored get their terms.
 *
 * @param run runs a statement, and returns its rows
 */
export function completesTerms(
  title: string,
  newUrl: () => string | Promise<string>,
  open: (url: string) => DatabaseSessionService,
  run: (url: string, statement: string) => unknown,
) {
  it(`lists on ${title} use the terms of sessions that were stored without, once these are complete`, async () => {
    const url = await newUrl();
    const count = async (rows: string): Promise<number> => {
      const [row] = (await run(url, `select count(*) as n from ${rows}`)) as [{ n: unknown }];
      return Number(row.n);
    };
    const find = async (service: DatabaseSessionService, request: object): Promise<string[]> => {
      const { sessions } = await service.listSessions({ ...SHOP, ...request });
      return sessions.map(({ id }) => id);
    };
    const earlier = open(url);
    for (let number = 0; number < 120; number += 1) {
      const key = { ...SHOP, userId: number % 2 ? 'ada' : 'bob', sessionId: `s${number}` };
      const described = number % 3 ? { title: `Tea ${number}` } : { labels: { n: `${number}` } };
      await earlier.createSession({ ...key, lastUpdateTime: number, ...described });
    }
    await earlier.close();
    const terms = await count('adk_session_wasm_terms');
    assert.equal(terms, 200);
    assert.equal(await count(NOTE), 1);
    await run(url, 'drop table adk_session_wasm_terms');
    await run(url, `delete from ${NOTE}`);

    const completing = open(url);
    assert.deepEqual(await find(completing, { labels: { n: '117' } }), ['s117']);
    while ((await count(NOTE)) === 0) await pause(5);
    await completing.close();
    assert.equal(await count('adk_session_wasm_terms'), terms);

    await run(url, "delete from adk_session_wasm_terms where session_id = 's115'");
    const service = open(url);
    assert.deepEqual(await find(service, { title: 'tea 11' }), ['s11', 's110', 's112', 's113', 's116', 's118', 's119']); // prettier-ignore
    await service.updateSession({ ...SHOP, userId: 'ada', sessionId: 's115' }, { labels: {} });
    assert.deepEqual(await find(service, { title: 'tea 115' }), ['s115']);
    await service.close();
  });
}
