/** The part of this folder that a live session loads when it has an agent. Most pages have no agent. */
export { type Answers, answerMessage, requireAnswers } from './state/answers.js';
export { type AskedMessage, type SessionRuns, sessionRunsOf } from './session_runs.js';
export { RunView, unansweredMessage } from './shown_runs.js';
