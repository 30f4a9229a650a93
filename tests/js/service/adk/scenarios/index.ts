import { compaction } from './compaction.js';
import { delegations } from './agents/delegation.js';
import { entryPoints } from './entry_points.js';
import { failures } from './failures.js';
import { llmAgent } from './agents/llm_agent.js';
import { parallelAgents } from './agents/parallel_agents.js';
import { pauses } from './pauses.js';
import { plugins } from './plugins.js';
import type { Scenario } from './scenario.js';
import { serviceCalls } from './service_calls.js';
import { tempState } from './temp_state.js';
import { workflow } from './agents/workflow.js';
import { workflowAgents } from './agents/workflow_agents.js';

/** All of them; see `scenario.ts` for how to run them on another service. */
export const scenarios: readonly Scenario[] = [
  ...llmAgent,
  ...workflowAgents,
  ...parallelAgents,
  ...delegations,
  ...workflow,
  ...pauses,
  ...plugins,
  ...compaction,
  ...entryPoints,
  ...tempState,
  ...failures,
  ...serviceCalls,
];
