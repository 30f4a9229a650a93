import { startMariadb } from '../js/database/servers.js';
import { simulateOnServer } from './server_seeds.js';

simulateOnServer('mariadb', startMariadb, 200);
