/** What `require('adk-session-wasm/adk')` gives: the same, over the copy that `require` loads. */
import framework = require('@google/adk');
import factory = require('./factory.js');

export = { ...factory, ...factory.adkSessionService(framework.BaseSessionService) };
