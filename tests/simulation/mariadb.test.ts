import { simulateOnServer } from './server_seeds.js';

simulateOnServer('mariadb', 50);
