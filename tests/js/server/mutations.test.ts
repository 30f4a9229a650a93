// Mutations of clients, over memory and SQLite.

import { InMemorySessionService } from '../../../js/index.js';
import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { appliesOnce } from '../stores/database/cases/mutations.js';

appliesOnce('memory', (clock) => new InMemorySessionService({ clock: () => clock.now }));
appliesOnce('a SQLite database', (clock) => {
  return new DatabaseSessionService('sqlite:///:memory:', { clock: () => clock.now });
});
