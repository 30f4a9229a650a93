/**
 * Says where the wasm comes from in this host: the `imports` of package.json choose the loader. All
 * entries but the slim one import this for its effect.
 */
import { source } from '#wasm-source';
import { provideDefaultWasm } from './core.js';

provideDefaultWasm(source);
