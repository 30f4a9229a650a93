/** What a live session with an agent loads of this folder. Most pages have none. */
export { type Answers, answerMessage, requireAnswers } from './state/answers.js';
export { type AskedMessage, type SessionRuns, sessionRunsOf } from './session_runs.js';
export { RunView, unansweredMessage } from './shown_runs.js';
