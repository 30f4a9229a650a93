import { checkRuns } from './seeds.js';

const SEEDS = [
  // An agent began again with a message, because others had written meanwhile.
  ...[0, 18, 24],
  // A message that the agent's plugin refused was sent again for ever.
  ...[9, 12],
  // A message waited for ever: behind another device's failed run, and right after Stop.
  ...[46, 52, 180],
  // A refused rewind had cancelled the run.
  ...[59, 81],
  // A rewind whose message had the id of another event was stored, or never answered.
  ...[4, 83, 127],
  // The agent's message got status 404, and ran: its session was created again.
  472,
  // A first message that was refused left an empty session.
  ...[345, 380],
  // A rewind of a first message that was given up left an empty session.
  157_800_225,
  // A cancel waited for the agent's first event.
  ...[737, 930],
  // A message that was given up stayed on the screen.
  408,
  // A tab took over from a killed one, and had missed events.
  54,
  // A retried message of a session that was deleted and made again asked the remote for ever.
  ...[21440, 22321],
  // A server was killed during a rewind: its service could not be closed, and the program ended.
  ...[2035, 2351],
  // The half answer of a failed run was taken for a draft that never ends.
  157_600_070,
];

await checkRuns(SEEDS, true);
