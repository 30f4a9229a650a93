/**
 * The tea shop in a terminal: `node --import tsx examples/tea_shop_program.ts Something mild`. If the
 * environment has a `GEMINI_API_KEY`, a Gemini model answers, otherwise a scripted one.
 */
import { InMemorySessionService } from 'adk-session-wasm';
import { geminiModel } from './gemini_model.js';
import { recommendTea, scriptedModel } from './tea_shop.js';

const { GEMINI_API_KEY: apiKey } = process.env;
const model = apiKey === undefined ? scriptedModel : geminiModel(apiKey);
const message = process.argv.slice(2).join(' ') || 'I would like something mild';

const service = new InMemorySessionService();
const key = { appName: 'tea', userId: 'guest', sessionId: 'tonight' };
console.log(await recommendTea(service, key, model, message));
console.log((await service.getSession(key))?.state);
