import { exposeScenarios } from '../../expose_scenarios.js';
import * as chat from './chat.js';

export type ChatScenarios = typeof chat;

exposeScenarios({ ...chat });
