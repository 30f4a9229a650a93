import { startPostgres } from '../js/database/servers.js';
import { simulateOnServer } from './server_seeds.js';

simulateOnServer('postgresql', startPostgres, 200);
