/** The part of the folder of runs that a live session loads when the server of its service has an agent. */
export { answerMessage, requireAnswers } from '../state/user_answers.js';
export { remoteRunsOf as runsOf } from './remote_runs.js';
export { RunView, unansweredMessage } from '../run_view.js';
