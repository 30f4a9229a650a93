// The example of a channel over Redis, with both of its clients and a real server.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { redisChannel } from '../../../examples/redis_channel.js';
import { openSessionService, type SessionService } from '../../../js/index.js';
import { installPackages } from '../../toolchain/npm_packages.mjs';
import { kinds, listen } from '../core/watch/notices.js';
import { KEY, says } from '../service/fixture.js';
import { wholeStorage } from '../service/whole_storage.js';
import type { Server } from '../stores/database/servers.js';
import { startRedis } from './redis_server.js';

type Client = Parameters<typeof redisChannel>[0];

const require = createRequire(join(installPackages('redis'), 'package.json'));
const { Redis } = require('ioredis') as {
  readonly Redis: new (options: { port: number }) => Client & { disconnect(): void };
};
const { createClient } = require('redis') as {
  readonly createClient: (options: { url: string }) => Client & {
    connect(): Promise<unknown>;
    destroy(): void;
  };
};

/** Connects a client. @returns it, and what ends it */
const CLIENTS = {
  ioredis(port: number) {
    const client = new Redis({ port });
    client.on('error' as 'ready', () => undefined);
    return Promise.resolve([client, () => client.disconnect()] as const);
  },
  async redis(port: number) {
    const client = createClient({ url: `redis://127.0.0.1:${port}` });
    client.on('error' as 'ready', () => undefined);
    await client.connect();
    return [client, () => client.destroy()] as const;
  },
};

let server: Server;
before(async () => (server = await startRedis()));
after(() => server.remove());

async function until(isTrue: () => boolean): Promise<void> {
  for (let turns = 0; turns < 3000 && !isTrue(); turns += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(isTrue());
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  describe(`The example redis_channel.ts with the clients of ${name}`, () => {
    const session = `${KEY.userId} ${KEY.sessionId}`;

    /** Two processes over one storage, whose channel has begun to hear, and what ends them. */
    async function processes(secret: string) {
      const storage = wholeStorage();
      const services: SessionService[] = [];
      const ends: (() => void)[] = [];
      const told: string[] = [];
      for (let count = 0; count < 2; count += 1) {
        const [[publisher, endOne], [subscriber, endOther]] = await Promise.all([
          connect(server.port),
          connect(server.port),
        ]);
        ends.push(endOne, endOther);
        const open = redisChannel(publisher, subscriber);
        services.push(
          await openSessionService({
            storage: { ...storage },
            channel: { open, secret },
            onDiagnostic: (each) => void (each.kind === 'channel' && told.push(each.message ?? '')),
          }),
        );
      }
      const [one, other] = services as [SessionService, SessionService];
      const notices = listen(other);
      await until(() => kinds(notices).includes('resync'));
      notices.splice(0);
      const end = async (): Promise<void> => {
        await Promise.all(services.map((service) => service.close()));
        for (const end of ends) end();
      };
      return { one, notices, told, end };
    }

    it('tells the changes of one process to the watchers of another', async () => {
      const { one, notices, told, end } = await processes('0'.repeat(32));
      await one.createSession(KEY);
      await until(() => kinds(notices).includes(`created ${session}`));
      await one.updateSession(KEY, { title: 'Tea'.repeat(20) });
      await until(() => kinds(notices).includes(`updated ${session}`));
      await one.deleteSession(KEY);
      await until(() => kinds(notices).includes(`deleted ${session}`));
      await end();
      assert.deepEqual(told, []);
    });

    it('says that texts may be lost when it has connected again, and goes on', async () => {
      const { one, notices, end } = await processes('1'.repeat(32));
      const opened = await one.createSession(KEY);
      await until(() => kinds(notices).includes(`created ${session}`));
      notices.splice(0);
      await server.kill();
      await server.start();
      await until(() => kinds(notices).includes('resync'));
      await one.appendEvent({ session: opened, event: says('1') });
      await until(() => kinds(notices).includes(`appended ${session}`));
      await end();
    });
  });
}
