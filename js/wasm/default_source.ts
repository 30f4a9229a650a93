/**
 * Provides the default source of the wasm for this host: the `imports` of package.json choose the
 * loader. All entries except the slim one import this module for its effect.
 */
import { source } from '#wasm-source';
import { provideDefaultWasm } from './core.js';

provideDefaultWasm(source);
