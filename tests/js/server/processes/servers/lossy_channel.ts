// A channel that loses texts while the test says so.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import { redisChannel } from '../../../../../examples/redis_channel.js';
import type { OpenChannel, ProcessChannel } from '../../../../../js/index.js';
import { postgresChannel } from '../../../../../js/service/database/index.js';
import { installPackages } from '../../../../toolchain/npm_packages.mjs';

/** What a process loses of its channel. */
export type Lost = 'nothing' | 'sent' | 'heard' | 'both';

export class LossyChannel {
  lost: Lost = 'nothing';

  over(open: OpenChannel): OpenChannel {
    return (name) => {
      const inner = open(name);
      const outer: ProcessChannel = {
        onmessage: null,
        onmissed: null,
        onfailure: null,
        postMessage: (text) => (this.#loses('sent') ? undefined : inner.postMessage(text)),
        close: () => inner.close(),
      };
      inner.onmessage = (message) => {
        if (!this.#loses('heard')) outer.onmessage?.(message);
      };
      inner.onmissed = () => outer.onmissed?.();
      inner.onfailure = (error) => outer.onfailure?.(error);
      return outer;
    };
  }

  #loses(what: Lost): boolean {
    return this.lost === what || this.lost === 'both';
  }
}

/** Makes the channel of a server of PostgreSQL or Redis. */
export function openChannelOf(url: string): OpenChannel {
  if (!url.startsWith('redis:')) return postgresChannel(url);
  const [publisher, subscriber] = [redisClient(url), redisClient(url)];
  return redisChannel(publisher, subscriber);
}

type Client = Parameters<typeof redisChannel>[0];

function redisClient(url: string): Client {
  const require = createRequire(join(installPackages('redis'), 'package.json'));
  const { Redis } = require('ioredis') as { readonly Redis: new (url: string) => Client };
  const client = new Redis(url);
  // It connects again by itself.
  client.on('error' as 'ready', () => undefined);
  return client;
}
