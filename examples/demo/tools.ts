/** The agents' tools. Each tool writes state of another scope; the key's prefix selects it. */

import { type Context, FunctionTool } from '@google/adk';
import { State } from 'adk-session-wasm';
import { z } from 'zod';

const TEAS = {
  morning: { name: 'Assam', price: 4 },
  evening: { name: 'Rooibos', price: 5 },
};

/** Writes `user:` keys, which all sessions of this guest share. */
export const rememberGuest = new FunctionTool({
  name: 'remember_guest',
  description: 'Remembers the name of the guest.',
  parameters: z.object({ name: z.string() }),
  execute: ({ name }, context) => {
    context?.state.set('user:name', name);
    return { status: 'remembered' };
  },
});

/** Writes `temp:` keys, which the agents of this turn share and which are never stored. */
export const findTea = new FunctionTool({
  name: 'find_tea',
  description: 'Finds the tea that suits a time of day.',
  parameters: z.object({ time: z.enum(['morning', 'evening']) }),
  execute: ({ time }, context) => {
    context?.state.set('temp:found', TEAS[time]);
    return TEAS[time];
  },
});

/** Writes a key without prefix, for this session, and an `app:` key, for all users. */
export const orderTea = new FunctionTool({
  name: 'order_tea',
  description: 'Puts a tea on the order.',
  parameters: z.object({ tea: z.string() }),
  execute: ({ tea }, context) => {
    // A new array, so that the stored one is not changed.
    const order = [...(context?.state.get<string[]>('order') ?? []), tea];
    context?.state.set('order', order);
    context?.state.set('user:favourite', tea);
    context?.state.set('app:served', (context.state.get<number>('app:served') ?? 0) + 1);
    return { order };
  },
});

/** Removes a key with `State.REMOVED`; `null` would be a value. */
export const cancelOrder = new FunctionTool({
  name: 'cancel_order',
  description: 'Cancels the whole order.',
  execute: (_input, context) => {
    context?.state.set('order', State.REMOVED);
    return { status: 'cancelled' };
  },
});

/** Counts the turns of this session. Callbacks write state as tools do. */
export function countTurn({ state }: Context): undefined {
  state.set('turns', (state.get<number>('turns') ?? 0) + 1);
}
