/**
 * The exports of `require('adk-session-wasm/adk')`: the same, over the copy of `@google/adk` that `require`
 * loads.
 */
import framework = require('@google/adk');
import factory = require('./factory.js');

export = { ...factory, ...factory.adkSessionService(framework.BaseSessionService) };
