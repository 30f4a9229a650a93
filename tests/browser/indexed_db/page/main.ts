// The page with all functions that tests call.

import { exposeScenarios } from '../../expose_scenarios.js';
import { inPage as artifacts } from '../writes/artifacts.js';
import { inPage as atomicity } from '../writes/atomicity.js';
import { inPage as deletion } from '../writes/deletion.js';
import { inPage as durability } from '../writes/durability.js';
import { inPage as order } from '../writes/order.js';
import { inPage as quota } from '../writes/quota.js';
import { inPage as retries } from '../writes/retries.js';
import { inPage as sizes } from '../writes/sizes.js';
import { inPage as files } from '../reads/files.js';
import { inPage as filteredLists } from '../reads/filtered_lists.js';
import { inPage as searches } from '../reads/searches.js';
import { inPage as views } from '../reads/views.js';
import { inPage as walks } from '../reads/walks.js';
import { inPage as windows } from '../reads/windows.js';
import { inPage as damage } from '../loss/damage.js';
import { inPage as loss } from '../loss/loss.js';
import { inPage as sequence } from '../loss/sequence.js';
import { inPage as exceptions } from '../opening/exceptions.js';
import { inPage as fallback } from '../opening/fallback.js';
import { inPage as realms } from '../opening/realms.js';
import { inPage as schema } from '../opening/schema.js';
import { inPage as connections } from '../pages/connections.js';
import { inPage as backAndForward } from '../pages/back_and_forward.js';
import { inPage as leaving } from '../pages/leaving.js';
import { inPage as resuming } from '../pages/resuming.js';
import { inPage as sequel } from '../pages/sequel.js';
import { inPage as twoPages } from '../pages/two_pages.js';
import { inPage as workerFreeze } from '../pages/worker_freeze.js';
import { inPage as bursts } from '../loss/bursts.js';

exposeScenarios({
  ...bursts,
  ...artifacts,
  ...atomicity,
  ...deletion,
  ...durability,
  ...order,
  ...quota,
  ...retries,
  ...sizes,
  ...files,
  ...filteredLists,
  ...searches,
  ...views,
  ...walks,
  ...windows,
  ...damage,
  ...loss,
  ...sequence,
  ...exceptions,
  ...fallback,
  ...realms,
  ...schema,
  ...connections,
  ...backAndForward,
  ...leaving,
  ...resuming,
  ...sequel,
  ...twoPages,
  ...workerFreeze,
});
