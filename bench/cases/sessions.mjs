// Creating sessions, and listing a page of many.

import { inTurns, shown, timeOfMany } from '../measure.mjs';
import { appName, OurService, PeerService, userId } from '../services.mjs';

const SESSIONS = 10_000;

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function sessions() {
  const state = { step: 0, 'user:name': 'Ada', 'app:motd': 'hello' };
  const create = (/** @type {OurService | PeerService} */ service) => () =>
    timeOfMany(500, () => service.createSession({ appName: 'created', userId, state }));
  const created = await inTurns({
    ours: create(new OurService()),
    peer: create(new PeerService()),
  });

  const [ours, peer] = [new OurService(), new PeerService()];
  for (let number = 0; number < SESSIONS; number += 1) {
    const request = { appName, userId, sessionId: `s${number}`, state: { number } };
    await ours.createSession(request);
    await peer.createSession(request);
  }
  const page = { appName, userId, limit: 20, order: /** @type {const} */ ('desc') };
  const listed = await inTurns({
    ours: () => timeOfMany(100, () => ours.listSessions(page)),
    peer: () => timeOfMany(5, () => peer.listSessions(page)),
  });
  const scale = ({ ours, peer } = created) => ({
    ours: ours * 1000,
    peer: peer * 1000,
    unit: 'µs',
  });
  return [
    shown({ case: 'createSession', ...scale(created) }),
    shown({ case: 'listSessions, newest 20 of 10,000', ...scale(listed) }),
  ];
}
