import { createEventActions, type Event } from '../../../../js/index.js';

/** Makes the members of an event that begins a wait or ends one. */
export function randomWait(below: (count: number) => number): Partial<Event> {
  const id = `wait${below(4)}`;
  const named = { id, name: below(2) === 0 ? 'pay' : 'adk_request_input' };
  const call = { functionCall: { ...named, args: {} } };
  const answer = { functionResponse: { ...named, response: {} } };
  const nodes = { n: { status: below(2) === 0 ? 'waiting' : 'done' } };
  switch (below(5)) {
    case 0:
      return { author: 'user', content: { role: 'user', parts: [answer] } };
    case 1:
      return { actions: createEventActions({ agentState: { nodes } }) };
    default:
      return {
        author: 'agent',
        content: { role: 'model', parts: [call] },
        longRunningToolIds: below(3) === 0 ? [] : [id],
      };
  }
}
