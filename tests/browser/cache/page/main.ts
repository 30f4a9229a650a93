import { exposeScenarios } from '../../expose_scenarios.js';
import {
  ask,
  close,
  forget,
  list,
  open,
  pending,
  read,
  readOn,
  sync,
  untilEmpty,
  untilOffline,
  untilRead,
  untilSent,
  write,
  writeMany,
} from './chat.js';
import * as damage from './damage.js';
import * as fullDisk from './full_disk.js';
import * as loss from './loss.js';

const scenarios = {
  ask,
  close,
  forget,
  list,
  open,
  pending,
  read,
  readOn,
  sync,
  untilEmpty,
  untilOffline,
  untilRead,
  untilSent,
  write,
  writeMany,
  ...damage,
  ...fullDisk,
  ...loss,
};

export type ChatScenarios = typeof scenarios;

exposeScenarios(scenarios);
