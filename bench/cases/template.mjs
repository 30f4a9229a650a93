// A template of 2 KB with 20 placeholders.

import { injectSessionState, Template } from 'adk-session-wasm';
import { atMost, inTurns, timeOfMany } from '../measure.mjs';
import { peerFile } from '../peer.mjs';

const PLACEHOLDERS = 20;
const LENGTH = 2048;

function makeTemplate() {
  const prefixes = ['', 'user:', 'app:', 'temp:'];
  const share = LENGTH / PLACEHOLDERS;
  const text =
    'Answer in the tone that the user prefers, and keep to what the documents say. '.repeat(2);
  let template = '';
  /** @type {Record<string, unknown>} */
  const state = {};
  for (let number = 0; number < PLACEHOLDERS; number += 1) {
    const key = `${prefixes[number % prefixes.length]}value_${number}`;
    state[key] = number % 3 === 0 ? number : `the value of number ${number}`;
    const placeholder = `{${key}}`;
    template += text.slice(
      0,
      Math.round(share * (number + 1)) - template.length - placeholder.length,
    );
    template += placeholder;
  }
  return { template, state };
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function templates() {
  // The peer does not export this function, so it is loaded by its file.
  const { injectSessionState: peerInject } = await import(peerFile('agents/instructions.js'));
  const { template, state } = makeTemplate();
  const compiled = new Template(template);
  const peerContext = { invocationContext: { session: { state } } };
  const expected = await peerInject(template, peerContext);
  if ((await compiled.render({ state })) !== expected) throw new Error('the two results differ');

  const times = await inTurns(
    {
      once: () => timeOfMany(1000, () => new Template(template).render({ state })),
      again: () => timeOfMany(1000, () => injectSessionState(template, { state })),
      compiled: () => timeOfMany(1000, () => compiled.render({ state })),
      peer: () => timeOfMany(1000, () => peerInject(template, peerContext)),
    },
    { rounds: 21, warmUp: 5 },
  );
  const [peer, unit] = [times.peer * 1000, 'µs'];
  const name = 'template, 2 KB, 20 placeholders';
  return [
    atMost({ case: `${name}, used once`, ours: times.once * 1000, peer, unit, most: 1 / 2 }),
    atMost({ case: `${name}, injected again`, ours: times.again * 1000, peer, unit, most: 1 / 2 }),
    atMost({ case: `${name}, compiled`, ours: times.compiled * 1000, peer, unit, most: 1 / 3 }),
  ];
}
