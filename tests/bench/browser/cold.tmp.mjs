import { user } from './user.mjs';
globalThis.report = (async () => {
  const name = 'cold-' + crypto.randomUUID();
  const t = []; const mark = (n) => t.push([n, performance.now()]);
  mark('start');
  const { Bare } = await import('./bare.mjs'); mark('bare script');
  const store = await Bare.open(name + 'b', user); mark('bare open');
  await store.create(['session'], Date.now()); mark('bare put'); store.close();
  const m = await import('adk-session-wasm'); mark('script');
  const { IndexedDbSessionService, InMemorySessionService } = m;
  const mem = new InMemorySessionService(); await mem.createSession(user); mark('wasm + memory create');
  const service = new IndexedDbSessionService({ name }); mark('construct');
  await service.open(); mark('open');
  await service.createSession({ ...user, sessionId: 'session' }); mark('create');
  await service.createSession({ ...user, sessionId: 'session2' }); mark('create 2');
  await service.close();
  await IndexedDbSessionService.deleteDatabase(name); await Bare.drop(name+'b');
  return t.slice(1).map(([n, x], i) => n + ' ' + (x - t[i][1]).toFixed(1)).join(' · ');
})();
