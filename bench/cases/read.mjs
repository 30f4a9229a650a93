// Reading 10,000 events: the last 20, and all of them.

import { atMost, inTurns, shown, timeOf, timeOfMany } from '../measure.mjs';
import { fillOurs, fillPeer, keyOf, ourEvents, OurService, PeerService } from '../services.mjs';

const COUNT = 10_000;
const RECENT = 20;

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function read() {
  const [ours, peer] = [new OurService(), new PeerService()];
  await fillOurs(ours, COUNT);
  await fillPeer(peer, COUNT);
  const recent = { ...keyOf(COUNT), config: { numRecentEvents: RECENT } };
  // The minimum of a reader: parse the text.
  const text = JSON.stringify(ourEvents(RECENT, COUNT - RECENT));
  const allText = JSON.stringify(ourEvents(COUNT, 0));

  const last = await inTurns(
    {
      ours: () => timeOfMany(200, () => ours.getSession(recent)),
      parse: () => timeOfMany(200, () => JSON.parse(text)),
      peer: (round) => (round % 3 === 0 ? timeOf(() => peer.getSession(recent)) : none()),
    },
    { rounds: 15, warmUp: 3 },
  );
  const all = await inTurns({
    ours: () => timeOf(() => ours.getSession(keyOf(COUNT))),
    parse: () => timeOf(() => JSON.parse(allText)),
    peer: () => timeOf(() => peer.getSession(keyOf(COUNT))),
  });
  const [name, unit] = ['last 20 of 10,000 events', 'ms'];
  return [
    atMost({ case: name, ours: last.ours, peer: last.parse, unit, most: 3, than: 'JSON.parse' }),
    shown({ case: `${name}, the peer`, ours: last.ours, peer: last.peer, unit }),
    atMost({ case: 'all 10,000 events', ours: all.ours, peer: all.peer, unit, most: 1 / 2.5 }),
    shown({ case: 'all 10,000 events, JSON.parse', ours: all.ours, peer: all.parse, unit }),
  ];
}

/** @returns {Promise<number[]>} */
async function none() {
  return [];
}
