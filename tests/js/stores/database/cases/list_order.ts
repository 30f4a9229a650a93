import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { findDifference } from '../../../service/read/list_model.js';
import {
  findDeletedAppend,
  findLostEvent,
  findLostSession,
  type Walked,
} from '../../../service/read/walk_model.js';
import { eventOf, numbers } from './concurrency.js';

/** The number of random sequences for each model. */
const SEEDS = 20;

/** The conformance suite checks the same with ids that servers refuse. */
export function ordersAsJavaScript(title: string, newUrl: () => Promise<string>) {
  it(`a list on ${title} orders sessions with equal times by id, as JavaScript compares strings`, async () => {
    const service = new DatabaseSessionService(await newUrl(), { clock: () => 1000 });
    const ids = ['ab', '\ufffd', 'b', '😀', 'é', 'B', 'a', '10', '9', 'a b', '_'];
    for (const sessionId of ids) {
      const session = await service.createSession({ appName: 'app', userId: 'user', sessionId });
      // The append gives the session's row a later time than the session has.
      const event = { ...eventOf('e'), timestamp: 1000 };
      if (sessionId < 'a') await service.appendEvent({ session, event });
    }
    const pages: string[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const { sessions, totalPages } = await service.listSessions({
        appName: 'app',
        limit: 3,
        page,
      });
      assert.equal(totalPages, 4);
      pages.push(...sessions.map((session) => session.id));
    }
    assert.deepEqual(pages, [...ids].sort());
    const { sessions } = await service.listSessions({ appName: 'app', order: 'desc', limit: 20 });
    assert.deepEqual(sessions.map((session) => session.id).reverse(), pages);
    assert.deepEqual(new Set(sessions.map((session) => session.lastUpdateTime)), new Set([1000]));
    await service.close();
  });
}

/**
 * Tests walks and filtered lists of two services against models.
 *
 * @param run runs a statement as a program beside the services, whose clock is behind
 */
export function listsAsModels(
  title: string,
  newUrl: () => string | Promise<string>,
  run?: (url: string, statement: string) => unknown,
) {
  it(`walks and lists on ${title} have what a model has, whatever two services write meanwhile`, async () => {
    const clock = { now: 1_700_000_000_000 };
    const options = { clock: () => clock.now, autoTitle: true };
    const withTwo = async <T>(
      use: (services: DatabaseSessionService[], url: string) => Promise<T>,
    ) => {
      const url = await newUrl();
      const services = numbers(2).map(() => new DatabaseSessionService(url, options));
      const result = await use(services, url);
      await Promise.all(services.map((service) => service.close()));
      return result;
    };
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const lost = await withTwo(async (services, url) => {
        const setTime: Walked['setTime'] = ({ userId, id }, time) => {
          const text = new Date(time).toISOString().replace('T', ' ').replace('Z', '000');
          const update = `update sessions set update_time = '${text}'`;
          return run?.(url, `${update} where user_id = '${userId}' and id = '${id}'`);
        };
        const walked = { services, setTime: run && setTime };
        return (await findLostSession(walked, seed, clock)) ?? findLostEvent(services, seed);
      });
      assert.equal(lost, undefined, `seed ${seed}`);
      const difference = await withTwo((services) =>
        findDifference(services, seed, (ms) => (clock.now += ms)),
      );
      assert.equal(difference, undefined, `seed ${seed}`);
    }
  });

  it(`deleteSessions on ${title} keeps a session that got an event after it was listed`, async () => {
    const url = await newUrl();
    const services = numbers(2).map(() => new DatabaseSessionService(url));
    const fault = await findDeletedAppend(services);
    await Promise.all(services.map((service) => service.close()));
    assert.equal(fault, undefined);
  });
}
