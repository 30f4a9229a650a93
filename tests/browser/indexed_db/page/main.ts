// The page with all scenarios.

import { exposeScenarios } from '../../expose_scenarios.js';
import { failInBatch, failInGroup } from './writes/atomicity.js';
import { burst, readStored } from './loss/burst.js';
import * as connections from './pages/connections.js';
import { dropServices } from './pages/collect.js';
import { damageEvent, takeNumber } from './loss/damage.js';
import { compareLists } from './reads/filtered_lists.js';
import { deleteLong } from './writes/deletion.js';
import { interrupt } from './opening/exceptions.js';
import * as openingExceptions from './opening/opening_exceptions.js';
import { openAuto, openExplicitly } from './opening/fallback.js';
import * as files from './reads/files.js';
import * as history from './pages/history.js';
import * as loss from './loss/loss.js';
import { callAtOnce, countAtOnce, listChangesAtOnce } from './writes/order.js';
import * as quota from './writes/quota.js';
import { workIn } from './opening/realms.js';
import { changeByHand, takeTurns } from './pages/resuming.js';
import * as requests from './writes/requests.js';
import { retry } from './writes/retries.js';
import * as schema from './opening/schema.js';
import * as sequel from './pages/sequel.js';
import * as sequence from './loss/sequence.js';
import { loseReplacement, replaceAnEnd } from './writes/truncations.js';
import * as sizes from './writes/sizes.js';
import { countBesideAnother, workBesideAnother } from './pages/two_pages.js';
import * as walks from './reads/walks.js';

const scenarios = {
  burst,
  callAtOnce,
  countAtOnce,
  changeByHand,
  compareLists,
  damageEvent,
  deleteLong,
  dropServices,
  failInBatch,
  failInGroup,
  interrupt,
  listChangesAtOnce,
  openAuto,
  openExplicitly,
  readStored,
  loseReplacement,
  replaceAnEnd,
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
  ...openingExceptions,
  ...quota,
  ...requests,
  ...schema,
  ...sequel,
  ...sequence,
  ...sizes,
  ...walks,
};

export type PageScenarios = typeof scenarios;

exposeScenarios(scenarios);
