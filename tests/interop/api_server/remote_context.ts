import type { RemoteSessionService } from '../../../js/service/remote/index.js';

/** What the tests of the remote client share: one server for each kind of database. */
export interface RemoteContext {
  /** URL of the server, in tests. */
  readonly url: string;
  /** A client of the server, in tests. */
  readonly remote: RemoteSessionService;
}
