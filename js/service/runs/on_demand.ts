/** The part of this folder that a live session loads when it has an agent. Most pages have no agent. */
export { answerMessage, requireAnswers } from './state/user_answers.js';
export { sessionRunsOf as runsOf } from './session_runs.js';
export { RunView, unansweredMessage } from './run_view.js';
