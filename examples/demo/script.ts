/** The demo's texts: the guest's messages, and the replies of the scripted models. */

import type { Models } from './agents.js';
import { type Reply, ScriptedModel } from './scripted_model.js';

/** The guest's messages, by conversation. Each conversation has its own session. */
export const CONVERSATIONS: readonly { sessionId: string; messages: readonly string[] }[] = [
  {
    sessionId: 'evening',
    messages: [
      'Hello, I am Ada. What do you have for a quiet evening?',
      'Lovely, I take one of those, please.',
      'Oh, it is late. Could you cancel my order?',
    ],
  },
  { sessionId: 'morning', messages: ['Good morning! Do you know who I am?'] },
];

const ADVISER: readonly Reply[] = [
  [
    ['remember_guest', { name: 'Ada' }],
    ['find_tea', { time: 'evening' }],
  ],
  'Rooibos, for 5: it lets you sleep.',
  [['order_tea', { tea: 'Rooibos' }]],
  'One Rooibos is on the way.',
  [['cancel_order', {}]],
  'The order is cancelled.',
  'The guest is Ada, who likes Rooibos.',
];

const HOST: readonly Reply[] = [
  'Welcome, Ada! May I suggest a Rooibos for 5? It will let you sleep.',
  'With pleasure, Ada, your Rooibos is on the way.',
  'Of course, Ada, nothing is ordered any more. Sleep well!',
  'Good morning, Ada! Of course I do. A Rooibos, as you like it?',
];

/** Makes the scripted models. */
export function scriptedModels(): Models {
  return { adviser: new ScriptedModel(ADVISER), host: new ScriptedModel(HOST) };
}
