import { InMemorySessionService } from '../../../../js/index.js';

/** The service of the components in docs/live.md. */
export const service = new InMemorySessionService();
