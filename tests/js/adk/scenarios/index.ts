import type { Scenario } from './scenario.js';
import { workflowAgents } from './workflow_agents.js';

/** All of them; see `scenario.ts` for how to run them on another service. */
export const scenarios: readonly Scenario[] = [...workflowAgents];
