import { survivesLostAnswers } from './lost_answer.js';

survivesLostAnswers(1);
