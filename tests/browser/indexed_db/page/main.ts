// The page with all scenarios.

import { exposeScenarios } from '../../expose_scenarios.js';
import { failInBatch, failInGroup } from './atomicity.js';
import { burst, readStored } from './burst.js';
import * as connections from './connections.js';
import { appendAfterCollection, dropServices } from './collect.js';
import { damageEvent, takeNumber } from './damage.js';
import { deleteLong, retainAfterAnother } from './deletion.js';
import { interrupt } from './exceptions.js';
import * as openingExceptions from './opening_exceptions.js';
import { openAuto, openExplicitly } from './fallback.js';
import * as files from './files.js';
import * as history from './history.js';
import * as loss from './loss.js';
import * as mirror from './mirror.js';
import { callAtOnce } from './order.js';
import * as quota from './quota.js';
import { workIn } from './realms.js';
import { changeByHand, takeTurns } from './resuming.js';
import * as requests from './requests.js';
import { retry } from './retries.js';
import * as schema from './schema.js';
import * as sequel from './sequel.js';
import * as sequence from './sequence.js';
import * as terms from './terms.js';
import { replaceAnEnd } from './truncations.js';
import * as upgrade from './upgrade.js';
import * as sizes from './sizes.js';
import { countBesideAnother, workBesideAnother } from './two_pages.js';
import * as walks from './walks.js';

const scenarios = {
  appendAfterCollection,
  burst,
  callAtOnce,
  changeByHand,
  damageEvent,
  deleteLong,
  dropServices,
  failInBatch,
  failInGroup,
  interrupt,
  openAuto,
  openExplicitly,
  readStored,
  replaceAnEnd,
  retainAfterAnother,
  retry,
  takeNumber,
  takeTurns,
  countBesideAnother,
  workBesideAnother,
  workIn,
  ...connections,
  ...files,
  ...history,
  ...loss,
  ...mirror,
  ...openingExceptions,
  ...quota,
  ...requests,
  ...schema,
  ...sequel,
  ...sequence,
  ...sizes,
  ...terms,
  ...upgrade,
  ...walks,
};

export type PageScenarios = typeof scenarios;

exposeScenarios(scenarios);
