import { runAll, runDatabase } from './suite.js';

postMessage(await (location.search === '?database' ? runDatabase('worker') : runAll()));
