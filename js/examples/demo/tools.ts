/** What the agents can do. Each tool writes state of another scope, told by the prefix of the key. */

import { type Context, FunctionTool } from '@google/adk';
import { State } from 'adk-session-wasm';
import { z } from 'zod';

/** One of the teas that the house serves. */
export interface Tea {
  name: string;
  price: number;
}

const TEAS: Record<'morning' | 'evening', Tea> = {
  morning: { name: 'Assam', price: 4 },
  evening: { name: 'Rooibos', price: 5 },
};

/** `user:` — for all sessions of this guest. */
export const rememberGuest = new FunctionTool({
  name: 'remember_guest',
  description: 'Remembers the name of the guest.',
  parameters: z.object({ name: z.string() }),
  execute: ({ name }, context) => {
    context?.state.set('user:name', name);
    return { status: 'remembered' };
  },
});

/** `temp:` — for the agents of this turn, and never stored. */
export const findTea = new FunctionTool({
  name: 'find_tea',
  description: 'Finds the tea that suits a time of day.',
  parameters: z.object({ time: z.enum(['morning', 'evening']) }),
  execute: ({ time }, context) => {
    context?.state.set('temp:found', TEAS[time]);
    return TEAS[time];
  },
});

/** No prefix — for this session; `app:` — for everybody. */
export const orderTea = new FunctionTool({
  name: 'order_tea',
  description: 'Puts a tea on the order.',
  parameters: z.object({ tea: z.string() }),
  execute: ({ tea }, context) => {
    // A new array: what is stored already is not to be changed.
    const order = [...(context?.state.get<string[]>('order') ?? []), tea];
    context?.state.set('order', order);
    context?.state.set('user:favourite', tea);
    context?.state.set('app:served', (context.state.get<number>('app:served') ?? 0) + 1);
    return { order };
  },
});

/** `State.REMOVED` takes a key away; null would be a value. */
export const cancelOrder = new FunctionTool({
  name: 'cancel_order',
  description: 'Cancels the whole order.',
  execute: (_input, context) => {
    context?.state.set('order', State.REMOVED);
    return { status: 'cancelled' };
  },
});

/** A callback writes as a tool does: counts the turns of this session. */
export function countTurn({ state }: Context): undefined {
  state.set('turns', (state.get<number>('turns') ?? 0) + 1);
}
