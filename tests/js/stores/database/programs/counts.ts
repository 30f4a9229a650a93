// A program that counts in an app's state, each time from what is stored.
//
//   counts.ts URL COUNT

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';

const [url = '', count] = process.argv.slice(2);
const service = new DatabaseSessionService(url);
const stateDelta = ({ 'app:total': total = 0 }) => ({ 'app:total': Number(total) + 1 });
for (let n = 0; n < Number(count); n += 1) {
  await service.updateState({ appName: 'app', stateDelta });
}
await service.close();
