// The page with the real @google/adk in it, on the services of this package.

import { exposeScenarios } from '../../expose_scenarios.js';
import * as conversation from './conversation.js';
import { playScenarios } from './scenarios.js';

const scenarios = { ...conversation, playScenarios };

export type PageScenarios = typeof scenarios;

exposeScenarios(scenarios);
