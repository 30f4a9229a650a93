import { InMemorySessionService } from '../../js/index.js';

/** The state of the sessions in these tests. */
export interface Shop {
  topic: string;
  cart: string[];
  'user:visits': number;
  'app:motd'?: string;
}

export const service = new InMemorySessionService<Shop>();
export const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
