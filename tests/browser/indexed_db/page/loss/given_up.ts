// Chromium's message about a database that it abandoned and recreated, as after damage to its files.

import { around } from '../around.js';

let message: string | undefined;

around(IDBFactory.prototype, 'open', (_factory, args, proceed) => {
  const request = proceed(...args) as IDBOpenDBRequest;
  request.addEventListener('upgradeneeded', (event) => {
    const { dataLoss, dataLossMessage } = event as Event & {
      dataLoss?: string;
      dataLossMessage?: string;
    };
    if (dataLoss === undefined || dataLoss === 'none') return;
    message = dataLossMessage ?? dataLoss;
  });
  return request;
});

/** Returns the message, if a database that was opened since the import of this module has been abandoned. */
export function givenUp(): string | undefined {
  return message;
}
