import { runAll } from './suite.js';

postMessage(await runAll());
