import { simulateOnServer } from './server_seeds.js';

simulateOnServer('postgresql', 50);
