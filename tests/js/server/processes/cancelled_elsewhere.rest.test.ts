import { after, before } from 'node:test';

import { emptied, type Server, startMariadb } from '../../stores/database/servers.js';
import { endsElsewhere } from './cancelled_elsewhere.js';

let mariadb: Server;
before(async () => (mariadb = await startMariadb()));
after(() => mariadb.remove());

endsElsewhere('MariaDB', () => emptied('mariadb', mariadb));
